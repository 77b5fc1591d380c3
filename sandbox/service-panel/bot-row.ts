// The bot, which is one process or several replicas, each with its own buttons.
import { controlButton, html, type Html } from "../page/base/html.ts";
import type { BotState } from "../page/base/parts.ts";
import type { Row, ServiceState, ShownReplica } from "./shown-state.ts";

export function botRow(state: ServiceState): Row {
  return state.replicas.length > 1 ? replicasRow(state) : onlyRow(state);
}

const WORDS: Readonly<Record<BotState, string>> = {
  running: "Running",
  starting: "Starting…",
  paused: "Paused: keeps its connections, but does nothing",
  stopped: "Stopped until you start it",
};

function onlyRow({ bot, botFault }: ServiceState): Row {
  const isAway = bot === "stopped" || bot === "paused";
  return {
    name: "Countersign",
    good: bot === "running",
    state: botFault === null ? WORDS[bot] : html`${WORDS[bot]}<span data-waiting>${botFault}</span>`,
    buttons: isAway
      ? [controlButton({ act: "bot.start", words: "Start it", id: "bot-power", look: "primary" })]
      : [
          controlButton({ act: "bot.stop", words: "Stop it", id: "bot-power" }),
          controlButton({ act: "bot.restart", words: "Restart it" }),
          controlButton({ act: "bot.kill", words: "Kill it" }),
        ],
  };
}

function replicasRow({ replicas }: ServiceState): Row {
  const running = replicas.filter(({ state }) => state === "running").length;
  return {
    name: "Countersign",
    good: running === replicas.length,
    state: `${running} of ${replicas.length} replicas running`,
    below: html`<ul data-replicas aria-label="Replicas">
      ${replicas.map((replica) => drawReplica(replica))}
    </ul>`,
    buttons: [
      running === replicas.length
        ? controlButton({ act: "bot.restart", words: "Restart all", id: "bot-power" })
        : controlButton({ act: "bot.start", words: "Start all", id: "bot-power", look: "primary" }),
    ],
  };
}

const SHORT: Readonly<Record<BotState, string>> = {
  running: "is running",
  starting: "is starting…",
  paused: "is paused",
  stopped: "is stopped",
};

function drawReplica({ name, state, port, pid, fault }: ShownReplica): Html {
  return html`<li data-replica="${state}">
    <span
      ><b>${titleOf(name)}</b> ${SHORT[state]}
      <small>${pid === null ? `port ${port}` : `port ${port}, pid ${pid}`}</small></span
    >
    <span data-buttons>${replicaButtons(name, state)}</span>
    ${fault === null ? null : html`<span data-waiting>${fault}</span>`}
  </li>`;
}

/** A replica that is killed here stays down, which leaves time to watch the others take over. */
function replicaButtons(replica: string, state: BotState): Html[] {
  const of = (act: string, words: string, args = {}): Html =>
    controlButton({
      act,
      args: { replica, ...args },
      words,
      label: `${words}: ${replica}`,
      id: `${replica.replace(" ", "-")}-${FIRST.includes(words) ? "power" : "rest"}`,
      look: words === "Start" ? "primary" : "plain",
    });
  const kill = of("bot.kill", "Kill", { back: false });
  if (state === "stopped") return [of("bot.start", "Start")];
  if (state === "paused") return [kill, of("bot.start", "Resume")];
  return state === "running" ? [kill, of("bot.pause", "Pause")] : [kill];
}

/** The first button of a replica. Both share one id, so that the focus stays when one replaces the other. */
const FIRST: readonly string[] = ["Kill", "Start"];

const titleOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
