// What the sandbox's Slack knows: plain data. The Web API, the sockets, the page and the tests all read this one truth.

export type PersonId = string;
export type ChannelId = string;

export type Person = {
  readonly id: PersonId;
  readonly team: string;
  /** The name people see; two people may share it. */
  name: string;
  handle: string;
  kind: "member" | "guest" | "outsider" | "bot";
  deactivated: boolean;
};

/** A user group: mentioned as one, its members listed on request. */
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

/** A Block Kit block as Slack's wire has it; what may stand in it is the rules' business, not the type's. */
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
  /** Who changed it last, and in which second. It is said to people only of a message without blocks. */
  edited: { readonly user: string; readonly ts: string } | null;
  files: string[];
  /** Only this person sees it; it is gone when the sandbox restarts. */
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
  /** What Slack itself says at the top of the modal when the app did not answer as it must. */
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

/** Something in the workspace is different now. */
export type Change = {
  readonly kind: "message" | "view" | "home" | "person" | "channel" | "file";
  readonly channel?: ChannelId;
  readonly person?: PersonId;
  /** What became of a message; `before` is what it was. */
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
  /** Rises by one from line to line and never repeats, so that a reader can ask for what came after it. */
  readonly number: number;
  readonly at: number;
  readonly from: "app" | "slack" | "service" | "person";
  readonly what: string;
  readonly detail: unknown;
  readonly refused: string | null;
  /** How long the answer took, where the line tells of an answer (milliseconds). */
  readonly ms: number | null;
  /** The number of the line that this one answers: an acknowledgement its envelope, a second delivery the first. */
  readonly answers: number | null;
};

/** What an act of a person led to: `told` is what Slack itself says to them when the app did not answer as it must. */
export type ActResult = { readonly ok: true } | { readonly ok: false; readonly error: string };

/** What a person can do; the page and the tests act through this and nothing else. */
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
