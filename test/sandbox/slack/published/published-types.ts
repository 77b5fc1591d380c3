// The types of Slack's answers and payloads in Slack's own packages. Slack generates the types of answers from recorded answers of its Web
// API.

import type {
  BlockAction,
  EnvelopedEvent,
  GlobalShortcut,
  MessageShortcut,
  SlashCommand,
  ViewClosedAction,
  ViewOutput,
  ViewSubmitAction,
} from "@slack/bolt";
import type {
  AppHomeOpenedEvent,
  AppMentionEvent,
  KnownBlock,
  MemberJoinedChannelEvent,
  MessageEvent,
  MessageMetadata,
} from "@slack/types";
import type {
  AppsConnectionsOpenResponse,
  AuthTestResponse,
  BotsInfoResponse,
  ChatDeleteResponse,
  ChatGetPermalinkResponse,
  ChatPostEphemeralResponse,
  ChatPostMessageResponse,
  ChatUpdateResponse,
  ConversationsHistoryResponse,
  ConversationsInfoResponse,
  ConversationsMembersResponse,
  ConversationsOpenResponse,
  ConversationsRepliesResponse,
  FilesCompleteUploadExternalResponse,
  FilesGetUploadURLExternalResponse,
  ReactionsAddResponse,
  ReactionsRemoveResponse,
  UsergroupsListResponse,
  UsergroupsUsersListResponse,
  UsersConversationsResponse,
  UsersInfoResponse,
  UsersListResponse,
  ViewsOpenResponse,
  ViewsPublishResponse,
  ViewsPushResponse,
  ViewsUpdateResponse,
} from "@slack/web-api";

/**
 * Replaces the types of blocks, metadata and field values, whose content comes from apps. The recorded answers contain only a few samples
 * of them. Slack's types for what apps send are complete.
 */
type Own<T> = Omit<T, "blocks" | "metadata" | "state"> & {
  blocks?: KnownBlock[];
  metadata?: MessageMetadata;
  state?: ViewOutput["state"];
};
type WithMessage<T extends { message?: object }> = Omit<T, "message"> & {
  message?: Own<NonNullable<T["message"]>>;
};
type WithView<T extends { view?: object }> = Omit<T, "view"> & { view?: Own<NonNullable<T["view"]>> };
type Listing<T extends { messages?: object[] }> = Omit<T, "messages"> & {
  messages?: Own<NonNullable<T["messages"]>[number]>[];
};

/** Bolt's type of the message in a payload names few fields and allows any. The type of a history names them all. */
type Message = NonNullable<Listing<ConversationsHistoryResponse>["messages"]>[number];

/** `@slack/types` uses the view that an app sends here, not the view that Slack returns. */
type HomeOpened = Omit<AppHomeOpenedEvent, "view"> & { view?: ViewOutput };

/** `open-types.ts` finds this type by its name, using the compiler. */
export interface PublishedTypes {
  "apps.connections.open": AppsConnectionsOpenResponse;
  "auth.test": AuthTestResponse;
  "bots.info": BotsInfoResponse;
  "chat.delete": ChatDeleteResponse;
  "chat.getPermalink": ChatGetPermalinkResponse;
  "chat.postEphemeral": ChatPostEphemeralResponse;
  "chat.postMessage": WithMessage<ChatPostMessageResponse>;
  "chat.update": WithMessage<ChatUpdateResponse>;
  "conversations.history": Listing<ConversationsHistoryResponse>;
  "conversations.info": ConversationsInfoResponse;
  "conversations.members": ConversationsMembersResponse;
  "conversations.open": ConversationsOpenResponse;
  "conversations.replies": Listing<ConversationsRepliesResponse>;
  "files.completeUploadExternal": FilesCompleteUploadExternalResponse;
  "files.getUploadURLExternal": FilesGetUploadURLExternalResponse;
  "reactions.add": ReactionsAddResponse;
  "reactions.remove": ReactionsRemoveResponse;
  "usergroups.list": UsergroupsListResponse;
  "usergroups.users.list": UsergroupsUsersListResponse;
  "users.conversations": UsersConversationsResponse;
  "users.info": UsersInfoResponse;
  "users.list": UsersListResponse;
  "views.open": WithView<ViewsOpenResponse>;
  "views.publish": WithView<ViewsPublishResponse>;
  "views.push": WithView<ViewsPushResponse>;
  "views.update": WithView<ViewsUpdateResponse>;

  slash_commands: SlashCommand;
  block_actions: Omit<BlockAction, "message"> & { message?: Message };
  view_submission: ViewSubmitAction;
  view_closed: ViewClosedAction;
  shortcut: GlobalShortcut;
  message_action: Omit<MessageShortcut, "message"> & { message: Message };

  app_home_opened: EnvelopedEvent<HomeOpened>;
  app_mention: EnvelopedEvent<AppMentionEvent>;
  member_joined_channel: EnvelopedEvent<MemberJoinedChannelEvent>;
  message: EnvelopedEvent<MessageEvent>;
}

export type PublishedName = keyof PublishedTypes;
