// `/agent freeze`: shows what is frozen, freezes this channel or everything, and lifts a freeze.

import type { Freeze } from "../../domain/freeze.ts";
import type { Asker } from "../../usecases/access.ts";
import { freezeWords } from "./blocks/brake.ts";
import { textAnswer } from "./blocks/message-id.ts";
import { commandRefusal } from "./blocks/refusal-words.ts";
import type { Message } from "./blocks/rich.ts";
import type { ListenerDeps } from "./listener-deps.ts";

/** `rest`: what was typed after `freeze`. Anything but its own words changes nothing and shows the state. */
export async function freezeCommand(
  { freeze, command }: Pick<ListenerDeps, "freeze" | "command">,
  by: Asker,
  rest: string,
): Promise<Message> {
  const [, first = "", why = ""] = /^\s*(\S+)(?:\s+([^]*))?$/.exec(rest) ?? [];
  const word = first.toLowerCase();
  if (word === "here" || word === "everywhere") {
    const frozen = await freeze.freeze(by, word === "here" ? by.channel : null, why);
    if (!frozen.ok) return commandRefusal(frozen.error, command);
    const text = `🧊 ${freezeWords(frozen.value)}. No run starts and no approval is sent. Requests can still be denied. Another person lifts it with \`${command} freeze lift\`.`;
    return textAnswer("answer:frozen", text);
  }
  if (word === "lift") {
    const lifted = await freeze.lift(by, null, why);
    if (!lifted.ok) return commandRefusal(lifted.error, command);
    const text = `Lifted: ${freezeWords(lifted.value)}. Runs start again, and requests can be approved again. An approval that the freeze stopped must be given again.`;
    return textAnswer("answer:freeze-lifted", text);
  }
  const known = await freeze.look(by);
  return known.ok ? freezeState(known.value, command) : commandRefusal(known.error, command);
}

function freezeState(freezes: readonly Freeze[], command: string): Message {
  const state =
    freezes.length === 0 ? ["Nothing is frozen here."] : freezes.map((each) => `🧊 ${freezeWords(each)}.`);
  const usage = [
    `\`${command} freeze here <why>\` freezes this channel: no run starts and no approval is sent. Denials are.`,
    `\`${command} freeze everywhere <why>\` freezes every channel.`,
    `\`${command} freeze lift <why>\` lifts a freeze that another person made.`,
  ];
  return textAnswer("answer:freeze-state", [...state, ...usage].join("\n"));
}
