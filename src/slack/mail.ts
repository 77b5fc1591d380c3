// The `Mail` port over Slack's Web API: letters to people's direct messages and to the audit channel.

import { ChannelId, type MessageTs, MessageTs as toTs, parsed } from "../core/ids.ts";
import type { Letter, Mail } from "../flow/letter.ts";
import { PortError } from "../flow/ports.ts";
import { drawnLetter } from "./blocks/letter.ts";
import { escaped } from "./blocks/rich.ts";
import { LITERAL, removeMessage } from "./chat.ts";
import type { Call } from "./clients.ts";
import type { Files } from "./files.ts";
import { isOurs, pages, type Self } from "./find-messages.ts";
import type { Lane } from "./lane.ts";
import { METADATA_EVENT } from "./names.ts";
import { postedChannel, postedTs } from "./wire.ts";

type Deps = {
  readonly call: Call;
  readonly lane: Lane;
  readonly files: Files;
  readonly self: Self;
  readonly digest: (text: string) => string;
};

/** Our clock and Slack's may differ by this much (ms). */
const SKEW_MS = 60_000;

export function createMail(deps: Deps): Mail {
  const { call, files, self } = deps;
  const markOf = ({ id }: Letter): string => deps.digest(`letter ${id}`).slice(0, 32);
  return {
    post: (letter, facts) =>
      resting(deps, letter, async () => {
        const metadata = { event_type: METADATA_EVENT, event_payload: { mark: markOf(letter) } };
        const args = { channel: letter.to, ...drawnLetter(letter, facts), ...LITERAL, metadata };
        return postedTs(await call("chat.postMessage", args));
      }),

    async find(letter) {
      const channel = parsed(ChannelId, letter.to);
      if (channel === null) return [];
      const oldest = String((letter.madeAt - SKEW_MS) / 1_000);
      const messages = await pages(call, "conversations.history", { channel, oldest });
      const mark = markOf(letter);
      const mine = messages.filter(
        (each) => isOurs(each, self) && each.metadata?.event_payload["mark"] === mark,
      );
      return mine
        .map(({ ts }) => parsed<MessageTs>(toTs, ts))
        .filter((ts) => ts !== null)
        .sort();
    },

    remove: ({ to }, ts) => removeMessage(call, to, ts),

    async file(to, { name, text, says }) {
      const file = await files.put(name, text);
      const args = { channel: to, text: escaped(says), ...LITERAL };
      const channel = postedChannel(await call("chat.postMessage", args));
      await call("files.completeUploadExternal", {
        files: [{ id: file, title: name }],
        channel_id: channel,
      });
    },
  };
}

async function resting<T>({ lane }: Deps, { to }: Letter, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof PortError && error.retryAfterMs !== null) lane.rest("post", to, error.retryAfterMs);
    throw error;
  }
}
