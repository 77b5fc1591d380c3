// The form that injects faults into the next requests.
import { controlButton, html, type Html } from "../page/base/html.ts";

const ROUTES: readonly (readonly [route: string, words: string])[] = [
  ["", "anything"],
  ["create-run", "a new run"],
  ["read-run", "the state of a run"],
  ["decide", "a decision"],
  ["health", "the health check"],
];

/** Faults as the act `service.fault` takes them. */
const FAULTS: readonly (readonly [fault: Readonly<Record<string, unknown>>, words: string])[] = [
  [{ type: "answer", status: 500 }, "fails with HTTP 500"],
  [{ type: "answer", status: 429, headers: { "retry-after": "5" } }, "is refused with 429, retry after 5 s"],
  [{ type: "answer", status: 503, headers: { "retry-after": "5" } }, "fails with 503, retry after 5 s"],
  [{ type: "answer", status: 401 }, "is refused with 401"],
  [{ type: "answer", status: 500, effect: true }, "takes effect, then fails with 500"],
  [{ type: "drop" }, "is cut off"],
  [{ type: "drop", effect: true }, "takes effect, but the answer is lost"],
  [{ type: "hang" }, "is never answered"],
  [{ type: "cut" }, "takes effect, but only half the answer arrives"],
  [{ type: "garbage" }, "takes effect, but the answer is not JSON"],
  [{ type: "huge" }, "takes effect, but the answer is enormous"],
];

/** The buttons that clear faults: first those of the service, then those of the gateway. */
const CLEAR: readonly (readonly [act: string, ofGateway: boolean, words: string])[] = [
  ["service.clearFaults", false, "Clear these"],
  ["gateway.clearFaults", true, "Clear the gateway's"],
];

export function faultButtons(waiting: readonly string[]): Html[] {
  const inject = (fault: (typeof FAULTS)[number][0] | undefined, words: string): Html =>
    controlButton({ act: "service.fault", args: { fault }, words });
  return [
    inject(FAULTS[0]?.[0], "Fail it (500)"),
    inject(FAULTS[1]?.[0], "Refuse it (429)"),
    controlButton({
      act: "service.loseNextAnswer",
      args: { route: "decide" },
      words: "Lose the next decision's answer",
    }),
    ...CLEAR.filter(([, ofGateway]) => waiting.some((one) => one.startsWith("gateway,") === ofGateway)).map(
      ([act, , words]) => controlButton({ act, words }),
    ),
  ];
}

export function faultForm(): Html {
  return html`<details data-mishaps>
    <summary>Inject another fault</summary>
    <form data-control="service.fault" data-args="{}" data-inline>
      <label>
        <span>For the next</span>
        <input
          type="number"
          name="times"
          id="fault-times"
          min="1"
          max="1000"
          value="1"
          required
          data-takes="number"
        />
      </label>
      <label>
        <span>requests for</span>
        <select name="route" id="fault-route" data-takes="text or nothing">
          ${ROUTES.map(([route, words]) => html`<option value="${route}">${words}</option>`)}
        </select>
      </label>
      <label>
        <span>: each one</span>
        <select name="fault" id="fault-kind" data-takes="json">
          ${FAULTS.map(([fault, words]) => html`<option value="${JSON.stringify(fault)}">${words}</option>`)}
        </select>
      </label>
      <button type="submit" data-look="plain">Inject</button>
    </form>
  </details>`;
}
