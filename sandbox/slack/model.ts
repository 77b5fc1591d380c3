// The data of the emulated Slack. The Web API, the sockets, the page and the tests all read it.

export type PersonId = string;
export type ChannelId = string;

export type Person = {
  readonly id: PersonId;
  readonly team: string;
  /** The name that people see. Two people may share it. */
  name: string;
  handle: string;
  kind: "member" | "guest" | "outsider" | "bot";
  deactivated: boolean;
};

/** A user group. It is mentioned as one; its members are listed on request. */
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

/** A Block Kit block as Slack sends it. The rules, not the type, say what it may hold. */
export type Block = { readonly type: string; block_id?: string } & Record<string, unknown>;

export type Message = {
  readonly channel: ChannelId;
  readonly ts: string;
  /** The ts of the thread's first message, for a reply. */
  readonly thread: string | null;
  /** A reply that is shown in the channel too. */
  readonly broadcast: boolean;
  readonly author: PersonId;
  text: string;
  blocks: Block[];
  metadata: { event_type: string; event_payload: Record<string, unknown> } | null;
  /** Who changed it last, and in which second. People see it only on a message without blocks. */
  edited: { readonly user: string; readonly ts: string } | null;
  files: string[];
  /** Only this person sees it. */
  readonly ephemeralFor: PersonId | null;
  readonly at: number;
  /** Who reacted, by the emoji's name. */
  reactions?: Record<string, PersonId[]>;
};

export type File = {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly bytes: Uint8Array;
  /** What a picture shows, in words; empty: not said. */
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
   * What the person had typed, by block_id and action_id: kept over updates and errors. A text, date or number
   * is its string; a select or radio group the chosen option's `value`; a people or channel select the id;
   * checkboxes and multi-selects an array of those; of an external select the whole option, of a rich text its block.
   * Nothing typed: absent, null or empty.
   */
  values: Record<string, Record<string, unknown>>;
  /** Slack's own text at the top of the modal if the app did not answer properly. */
  trouble?: string | null;
};

/** What a person sees on the app's Home tab. */
export type HomeView = {
  readonly id: string;
  readonly person: PersonId;
  view: Record<string, unknown> & { blocks: Block[] };
  hash: string;
  /** What the person has chosen on it, in the form of `OpenView.values`; kept over publications, as Slack keeps it. */
  values: OpenView["values"];
};

/** A change in the workspace. */
export type Change = {
  readonly kind: "message" | "view" | "home" | "person" | "channel" | "file";
  readonly channel?: ChannelId;
  readonly person?: PersonId;
  /** What happened to a message. `before`: as it was. */
  readonly message?: {
    readonly type: "posted" | "edited" | "removed";
    readonly now: Message;
    readonly before: Message | null;
  };
  /** Who came into the channel. */
  readonly joined?: PersonId;
};

/** One line of the Traffic panel. */
export type Traffic = {
  /** Rises by one from line to line, so that a reader can ask for the later ones. */
  readonly number: number;
  readonly at: number;
  readonly from: "app" | "slack" | "service" | "person";
  readonly what: string;
  readonly detail: unknown;
  readonly refused: string | null;
  /** How long the answer took, if the line is an answer (ms). */
  readonly ms: number | null;
  /** The number of the line that this one answers: an acknowledgement its envelope, a second delivery the first. */
  readonly answers: number | null;
  /** Whether it, or its answer, did not arrive as it was meant: cut off, spoiled by a fault, refused for coming too fast. */
  readonly lost: boolean;
};

/** The result of a person's act. `error`: Slack's own text for them if the act failed. */
export type ActResult = { readonly ok: true } | { readonly ok: false; readonly error: string };

/** What a person can do. The page and the tests use only this. */
export type Acts = {
  say(person: PersonId, channel: ChannelId, text: string, thread?: string): Promise<ActResult>;
  /** `text` is what follows the command's name, exactly as typed. */
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
