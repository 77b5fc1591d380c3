// `/agent freeze` shows what is frozen, freezes this channel or everything, or lifts a freeze.

import type { Freeze } from "../../domain/freeze.ts";
import type { Asker } from "../../usecases/access.ts";
import type { FreezeKind } from "../../usecases/stop-and-freeze.ts";
import { freezeWords } from "./blocks/brake-blocks.ts";
import { commandRefusal } from "./blocks/command-refusal-words.ts";
import { textAnswer } from "./blocks/message-id.ts";
import type { Message } from "./blocks/rich.ts";
import type { ListenerDeps } from "./listener-deps.ts";

type Deps = Pick<ListenerDeps, "freeze" | "command" | "once">;

/**
 * `trigger` identifies the command, which counts once in this process: if it arrived again, it would lift another person's later freeze. After
 * a restart, or in another replica, it counts again.
 */
export async function freezeCommand(deps: Deps, by: Asker, rest: string, trigger: string): Promise<Message> {
  let answer = ARRIVED_BEFORE;
  await deps.once.act(trigger, async () => (answer = await actOrShow(deps, by, rest)));
  return answer;
}

const ARRIVED_BEFORE = textAnswer(
  "answer:command-before",
  "Slack delivered this command twice. It counts once, and its first answer holds.",
);

/** `rest` is the text after `freeze`. Anything but `here`, `everywhere` or `lift` changes nothing and shows the state. */
async function actOrShow(deps: Deps, by: Asker, rest: string): Promise<Message> {
  const { freeze, command } = deps;
  const { word, rest: why } = firstWord(rest);
  if (isKind(word)) {
    const frozen = await freeze.freeze(by, word === "here" ? by.channel : null, why);
    if (!frozen.ok) return commandRefusal(frozen.error, command);
    const text = `🧊 ${freezeWords(frozen.value)}. No run starts and no approval is sent. Requests can still be denied. Another admin of Countersign or one of the policy's \`freezers\` can lift it with \`${command} freeze lift ${word}\`.`;
    return textAnswer("answer:frozen", text);
  }
  if (word === "lift") return lift(deps, by, why);
  const found = await freeze.look(by);
  return found.ok ? freezeState(found.value, command) : commandRefusal(found.error, command);
}

async function lift({ freeze, command }: Deps, by: Asker, rest: string): Promise<Message> {
  const { word, rest: why } = firstWord(rest);
  const lifted = await (isKind(word) ? freeze.lift(by, word, why) : freeze.lift(by, null, rest));
  if (!lifted.ok) return commandRefusal(lifted.error, command);
  const { still } = lifted.value;
  const then =
    still === null
      ? "Runs start again, and requests can be approved again. An approval that the freeze stopped must be given again."
      : `Another freeze still holds here: ${freezeWords(still)}. No run starts and no approval is sent until it is lifted too.`;
  const text = `You lifted this freeze: ${freezeWords(lifted.value)}. ${then}`;
  return textAnswer("answer:freeze-lifted", text);
}

function firstWord(text: string): { readonly word: string; readonly rest: string } {
  const [, first = "", rest = ""] = /^\s*(\S+)(?:\s+([^]*))?$/.exec(text) ?? [];
  return { word: first.toLowerCase().replace(/[.,;:!]+$/, ""), rest };
}

const isKind = (word: string): word is FreezeKind => word === "here" || word === "everywhere";

function freezeState(freezes: readonly Freeze[], command: string): Message {
  const state =
    freezes.length === 0 ? ["Nothing is frozen here."] : freezes.map((held) => `🧊 ${freezeWords(held)}.`);
  const usage = [
    `\`${command} freeze here <why>\` freezes this channel: no run starts and no approval is sent. Denials are still sent.`,
    `\`${command} freeze everywhere <why>\` freezes every channel.`,
    `\`${command} freeze lift here <why>\` and \`${command} freeze lift everywhere <why>\` lift a freeze that another person made.`,
  ];
  return textAnswer("answer:freeze-state", [...state, ...usage].join("\n"));
}
