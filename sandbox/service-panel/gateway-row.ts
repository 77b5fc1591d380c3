// The token gateway: whether it is up, how slow it is, and what it says about itself.
import { type Act, controlButton, html, type Html } from "../page/base/html.ts";
import type { Row, ServiceState } from "./shown-state.ts";

export function gatewayRow({ gatewayUp: up, gatewaySlowMs: slowMs, gatewayStatus }: ServiceState): Row {
  const { status, message } = gatewayStatus;
  const isHealthy = status === "ok";
  const wrong = [
    ...(slowMs === 0 ? [] : [`Every answer comes ${slowMs / 1000} s late`]),
    ...(isHealthy ? [] : [`Says that it is "${status}"${message === "" ? "" : `: ${message}`}`]),
  ];
  return {
    name: "Gateway",
    good: up && wrong.length === 0,
    state: [
      up ? "Up" : "Down: connections are refused",
      ...wrong.map((one) => html`<span data-waiting>${one}</span>`),
    ],
    buttons: [
      up
        ? ofGateway({ act: "gateway.down", words: "Take it down", id: "gateway-power" })
        : ofGateway({ act: "gateway.up", words: "Bring it up", id: "gateway-power", look: "primary" }),
      ...(slowMs === 0 ? [] : [ofGateway({ act: "gateway.slow", args: { ms: 0 }, words: "Normal speed" })]),
      ...(isHealthy
        ? []
        : [ofGateway({ act: "gateway.status", args: { status: "ok" }, words: "Make it healthy" })]),
    ],
  };
}

const ofGateway = (button: Act): Html => controlButton({ ...button, label: `${button.words}: the gateway` });
