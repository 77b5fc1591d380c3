// The form for faults of the next requests.
import { controlButton, html, type Html } from "../page/base/html.ts";

const ROUTES: readonly (readonly [route: string, words: string])[] = [
  ["", "anything"],
  ["create-run", "a new run"],
  ["read-run", "a look at a run"],
  ["decide", "a decision"],
  ["health", "the health"],
];

/** As `service.fault` takes them. */
const FAULTS: readonly (readonly [fault: Readonly<Record<string, unknown>>, words: string])[] = [
  [{ kind: "answer", status: 500 }, "fails with HTTP 500"],
  [{ kind: "answer", status: 429, headers: { "retry-after": "5" } }, "is refused with 429, come back in 5 s"],
  [{ kind: "answer", status: 503, headers: { "retry-after": "5" } }, "fails with 503, come back in 5 s"],
  [{ kind: "answer", status: 401 }, "is refused with 401"],
  [{ kind: "answer", status: 500, effect: true }, "takes effect, then fails with 500"],
  [{ kind: "drop" }, "is cut off"],
  [{ kind: "drop", effect: true }, "takes effect, and the answer is lost"],
  [{ kind: "hang" }, "is never answered"],
  [{ kind: "cut" }, "takes effect, half the answer arrives"],
  [{ kind: "garbage" }, "takes effect, the answer is no JSON"],
  [{ kind: "huge" }, "takes effect, the answer is enormous"],
];

/** Faults of the gateway are labelled as such. */
const FORGET: readonly (readonly [act: string, gateways: boolean, words: string])[] = [
  ["service.clearFaults", false, "Clear these"],
  ["gateway.clearFaults", true, "Clear the gateway's"],
];

export function faultButtons(waiting: readonly string[]): Html[] {
  const strike = (fault: (typeof FAULTS)[number][0] | undefined, words: string): Html =>
    controlButton({ act: "service.fault", args: { fault }, words });
  return [
    strike(FAULTS[0]?.[0], "Fail it (500)"),
    strike(FAULTS[1]?.[0], "Refuse it (429)"),
    controlButton({
      act: "service.loseNextAnswer",
      args: { route: "decide" },
      words: "Lose the next decision's answer",
    }),
    ...FORGET.filter(([, its]) => waiting.some((one) => one.startsWith("gateway,") === its)).map(
      ([act, , words]) => controlButton({ act, words }),
    ),
  ];
}

export function faultForm(): Html {
  return html`<details data-mishaps>
    <summary>Something else goes wrong</summary>
    <form data-control="service.fault" data-args="{}" data-inline>
      <label>
        <span>Of the next</span>
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
        <span>each</span>
        <select name="fault" id="fault-kind" data-takes="json">
          ${FAULTS.map(([fault, words]) => html`<option value="${JSON.stringify(fault)}">${words}</option>`)}
        </select>
      </label>
      <button type="submit" data-look="plain">Make it so</button>
    </form>
  </details>`;
}
