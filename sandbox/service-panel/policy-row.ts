// The policy of the bot, and the policies that it can be switched to.
import { controlButton, html, type Html } from "../page/base/html.ts";
import type { BotState } from "../page/base/parts.ts";
import type { Times } from "../page/base/times.ts";
import type { ShownPolicy } from "./shown-state.ts";

/** Says which policy is selected, whether it is in force, and why the latest switch failed. */
export function policyWords(policy: ShownPolicy, bot: BotState, times: Times): Html {
  const { chosen, fault } = policy;
  return html`<b>${chosen.title}</b>, ${stateWords(policy, bot, times)}
    <span data-row-note>${chosen.what}</span>
    ${fault === null ? null : html`<span data-waiting>${fault}</span>`}`;
}

function stateWords({ chosen, inForce }: ShownPolicy, bot: BotState, times: Times): Html {
  if (inForce?.policy === chosen) {
    const { since } = inForce;
    return html`in force since the bot started at
      <time datetime="${new Date(since).toISOString()}" title="${times.full(since)}"
        >${times.clock(since)}</time
      >`;
  }
  return bot === "starting"
    ? html`not in force yet: the bot is starting`
    : html`not in force: the bot is ${bot}`;
}

export function policyButtons({ policies, chosen }: ShownPolicy): Html[] {
  return policies.map(({ name, title }) =>
    controlButton({
      act: "bot.policy",
      args: { name },
      words: title,
      label: `${title}: switch the policy`,
      id: `policy-${name}`,
      chosen: name === chosen.name,
    }),
  );
}
