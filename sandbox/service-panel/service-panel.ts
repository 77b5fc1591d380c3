// The Service panel: the state of the service, of Slack and of the bot, the injected faults, and every run with its buttons.
import { controlButton, html, type Html } from "../page/base/html.ts";
import type { Memory } from "../page/base/tab-memory.ts";
import type { ServicePanel } from "../page/base/parts.ts";
import type { Lists, Slot } from "../page/base/regions.ts";
import { durationOf, MINUTE_MS, type Times } from "../page/base/times.ts";
import { choices } from "./profile-form.ts";
import { faultButtons, faultForm } from "./fault-form.ts";
import { botRow } from "./bot-row.ts";
import { gatewayRow } from "./gateway-row.ts";
import { policyButtons, policyWords } from "./policy-row.ts";
import { runItems } from "./run-list.ts";
import { slackRow } from "./slack-row.ts";
import type { Row, ServiceState } from "./shown-state.ts";

export function createServicePanel(state: () => ServiceState): ServicePanel {
  return { lists: (times, memory) => serviceLists(state(), times, memory), pane: servicePanel };
}

function serviceLists(state: ServiceState, times: Times, memory: Memory): Lists {
  return {
    service: [
      { key: "state", inner: stateOf(state, times) },
      { key: "mishaps", inner: faultForm() },
      { key: "choices", inner: choices(state.profile) },
    ],
    runs: runItems(state, times, memory),
  };
}

function servicePanel(slot: Slot): Html {
  return html`<div data-scroll tabindex="0" role="region" aria-label="The service and its runs">
    ${slot("service")}
    <h3 data-heading-of="runs">Runs <span data-note>newest first</span></h3>
    <form data-control="service.createRun" data-args="{}" data-inline data-alone>
      <label>
        <span class="unseen">Task of a run that is started outside Slack</span>
        <input
          type="text"
          name="task"
          id="new-task"
          placeholder="A task, started outside Slack"
          required
          data-takes="text"
        />
      </label>
      <button type="submit" data-look="plain">Start a run</button>
    </form>
    ${slot("runs")}
  </div>`;
}

function stateOf(state: ServiceState, times: Times): Html {
  const rows = [
    power(state),
    gatewayRow(state),
    speed(state),
    key(state),
    slackRow(state),
    botRow(state),
    policyRow(state, times),
    clock(state),
    next(state),
  ];
  return html`<dl data-states>
    ${rows.map(
      ({ name, good, state, buttons, below }) =>
        html`<div data-good="${good ? "yes" : "no"}">
          <dt>${name}</dt>
          <dd>
            <div>
              <span>${state}</span>
              <span data-buttons>${buttons}</span>
            </div>
            ${below}
          </dd>
        </div>`,
    )}
  </dl>`;
}

function power({ url, up }: ServiceState): Row {
  return {
    name: "Service",
    good: up,
    state: up ? html`Up at <code>${url}</code>` : "Down: connections are refused",
    buttons: [
      up
        ? controlButton({ act: "service.down", words: "Take it down", id: "service-power" })
        : controlButton({ act: "service.up", words: "Bring it up", id: "service-power", look: "primary" }),
    ],
  };
}

function speed({ slowMs }: ServiceState): Row {
  const to = (ms: number, words: string): Html =>
    controlButton({ act: "service.slow", args: { ms }, words, chosen: ms === slowMs });
  return {
    name: "Speed",
    good: slowMs === 0,
    state: slowMs === 0 ? "Answers as fast as it can" : `Every answer comes ${slowMs / 1000} s late`,
    buttons: [to(0, "Normal"), to(2000, "2 s late"), to(10_000, "10 s late")],
  };
}

function key({ key: held }: ServiceState): Row {
  const right = held === "right";
  return {
    name: "API key",
    good: right,
    state: right
      ? "The bot uses the current key"
      : "Rotated: the bot still uses the old key, and is refused with 401",
    buttons: [
      controlButton({ act: "service.rotateKey", words: right ? "Rotate it" : "Rotate again" }),
      ...(right
        ? []
        : [
            controlButton({ act: "bot.restart", words: "Restart the bot with the new key", look: "primary" }),
          ]),
    ],
  };
}

function policyRow({ policy, bot }: ServiceState, times: Times): Row {
  const inForce = policy.inForce?.policy === policy.chosen;
  return {
    name: "Policy",
    good: inForce && policy.fault === null,
    state: policyWords(policy, bot, times),
    buttons: policyButtons(policy),
  };
}

function next({ faults }: ServiceState): Row {
  return {
    name: "Next request",
    good: faults.length === 0,
    state: faults.length === 0 ? "Succeeds" : faults.map((one) => html`<span data-waiting>${one}</span>`),
    buttons: faultButtons(faults),
  };
}

function clock({ clockAheadMs: ahead, isClockMoving }: ServiceState): Row {
  const on = (ms: number, words: string): Html =>
    controlButton({ act: "clock.advance", args: { ms }, words, label: `${words}: set the clock ahead` });
  return {
    name: "Clock",
    good: ahead === 0,
    state: html`${ahead === 0 ? "The machine's time" : `${durationOf(ahead)} ahead of the machine's`}${
      isClockMoving
        ? html`<span data-row-note
            >Countersign's clock is on its way, 200 times as fast as normal. Until it is there, times on cards
            can disagree.</span
          >`
        : null
    }`,
    buttons: [
      on(MINUTE_MS, "+1 min"),
      on(10 * MINUTE_MS, "+10 min"),
      on(60 * MINUTE_MS, "+1 h"),
      on(1440 * MINUTE_MS, "+1 day"),
    ],
  };
}
