// The data model of the emulated Slack, which the Web API, the sockets, the page and the tests share.

export type PersonId = string;
export type ChannelId = string;

export type Person = {
  readonly id: PersonId;
  readonly team: string;
  /** The name that people see. It need not be unique. */
  name: string;
  handle: string;
  kind: "member" | "guest" | "outsider" | "bot";
  deactivated: boolean;
};

/** A user group, which can be mentioned as a whole. Its members are listed on request. */
export type Usergroup = {
  readonly id: string;
  readonly handle: string;
  readonly name: string;
  users: PersonId[];
  disabled: boolean;
};

export type Channel = {
  readonly id: ChannelId;
  readonly name: string;
  readonly kind: "public" | "private" | "dm";
  members: PersonId[];
  archived: boolean;
};

/** A Block Kit block as Slack sends it. The rules (rules-*.ts) define its fields, not this type. */
export type Block = { readonly type: string; block_id?: string } & Record<string, unknown>;

export type Message = {
  readonly channel: ChannelId;
  readonly ts: string;
  /** For a reply, the `ts` of the thread's first message. */
  readonly thread: string | null;
  /** Whether a reply is also shown in the channel. */
  readonly broadcast: boolean;
  readonly author: PersonId;
  text: string;
  blocks: Block[];
  metadata: { event_type: string; event_payload: Record<string, unknown> } | null;
  /** Who changed the message last, and in which second. Shown to people only on a message without blocks. */
  edited: { readonly user: string; readonly ts: string } | null;
  files: string[];
  /** The only person who sees the message. Null if everyone does. */
  readonly ephemeralFor: PersonId | null;
  readonly at: number;
  /** The people who reacted, keyed by the name of the emoji. */
  reactions?: Record<string, PersonId[]>;
};

export type File = {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly bytes: Uint8Array;
  /** The description of an image. Empty if there is none. */
  readonly description: string;
  readonly owner: PersonId;
};

/** A modal that a person has open. `errors` are keyed by block_id, as in an ack with response_action "errors". */
export type OpenView = {
  readonly id: string;
  readonly person: PersonId;
  view: Record<string, unknown> & { blocks: Block[] };
  hash: string;
  errors: Record<string, string>;
  /**
   * The person's input, keyed by block_id and action_id. It survives updates and errors. Texts, dates and numbers are strings. Selects and
   * radio buttons are the `value` of the option, people and channel selects the id, and checkboxes and multi-selects an array of these. An
   * external select is the whole option, and rich text is its block. Missing input is absent, null or empty.
   */
  values: Record<string, Record<string, unknown>>;
  /** Slack's own message at the top of the modal if the app did not answer properly. */
  trouble?: string | null;
};

/** What a person sees on the app's Home tab. */
export type HomeView = {
  readonly id: string;
  readonly person: PersonId;
  view: Record<string, unknown> & { blocks: Block[] };
  hash: string;
  /** What the person has chosen on the tab, in the format of `OpenView.values`. As in Slack, it survives publications. */
  values: OpenView["values"];
};

/** A change in the workspace. */
export type Change = {
  readonly kind: "message" | "view" | "home" | "person" | "channel" | "file";
  readonly channel?: ChannelId;
  readonly person?: PersonId;
  /** What happened to a message. `before` is its state before the change. */
  readonly message?: {
    readonly type: "posted" | "edited" | "removed";
    readonly now: Message;
    readonly before: Message | null;
  };
  /** Who joined the channel. */
  readonly joined?: PersonId;
};

/** One line of the Traffic panel. */
export type Traffic = {
  /** Increases by one per line, so that a reader can ask for later lines. */
  readonly number: number;
  readonly at: number;
  readonly from: "app" | "slack" | "service" | "person";
  readonly what: string;
  readonly detail: unknown;
  readonly refused: string | null;
  /** How long the answer took (ms), if the line is an answer. */
  readonly ms: number | null;
  /** The number of the line that this line refers to: for an acknowledgement its envelope, for a redelivery the first delivery. */
  readonly answers: number | null;
  /** Whether the message or its answer did not arrive properly: it was cut off, replaced by a fault or refused by a rate limit. */
  readonly lost: boolean;
};

/** The result of a person's act. `error` is Slack's message for the person if the act failed. */
export type ActResult = { readonly ok: true } | { readonly ok: false; readonly error: string };

/** What a person can do. The page and the tests act only through this. */
export type Acts = {
  say(person: PersonId, channel: ChannelId, text: string, thread?: string): Promise<ActResult>;
  /** `text` is everything after the name of the command, exactly as typed. */
  command(person: PersonId, channel: ChannelId, command: string, text: string): Promise<ActResult>;
  click(
    person: PersonId,
    at: { channel: ChannelId; ts: string } | { view: string },
    blockId: string,
    actionId: string,
    chosen?: unknown,
  ): Promise<ActResult>;
  submit(person: PersonId, viewId: string, values: OpenView["values"]): Promise<ActResult>;
  close(person: PersonId, viewId: string): Promise<ActResult>;
};
