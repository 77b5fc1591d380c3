// Every Web API method that the sandbox answers. Any other name is an unknown method.

import type { Method } from "./method.ts";
import { authMethods } from "./methods-auth.ts";
import { chatMethods } from "./methods-chat.ts";
import { conversationMethods } from "./methods-conversations.ts";
import { fileMethods } from "./methods-files.ts";
import { historyMethods } from "./methods-history.ts";
import { peopleMethods } from "./methods-people.ts";
import { reactionMethods } from "./methods-reactions.ts";
import { viewMethods } from "./methods-views.ts";

export const methods: ReadonlyMap<string, Method> = new Map(
  Object.entries({
    ...authMethods,
    ...chatMethods,
    ...viewMethods,
    ...conversationMethods,
    ...historyMethods,
    ...peopleMethods,
    ...reactionMethods,
    ...fileMethods,
  }),
);
