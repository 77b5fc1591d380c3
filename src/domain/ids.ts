// Identifiers. Each type has one maker, which checks the shape, so a plain string cannot pass for one by accident.

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** Our own key of a run. It exists before the service has given the run an id. */
export type RunKey = Branded<"RunKey">;
/** The service's id of a run. It may be any text, because we only send it back, URL-encoded. */
export type RunId = Branded<"RunId">;
export type ApprovalId = Branded<"ApprovalId">;
export type TeamId = Branded<"TeamId">;
export type UserId = Branded<"UserId">;
export type ChannelId = Branded<"ChannelId">;
/** A Slack user group. */
export type GroupId = Branded<"GroupId">;
/** Slack's id of a message within its channel. Compared as text, never as a number. */
export type MessageTs = Branded<"MessageTs">;
/** 128 random bits that stand for a button or a modal. Only our store knows what they mean. */
export type Nonce = Branded<"Nonce">;

/** A person. Their id alone does not say which workspace they are from. */
export type PersonId = { readonly team: TeamId; readonly user: UserId };

/** The longest id that we accept, because ids go into URLs, logs and cards. Our own limit; the service documents none. */
export const MAX_SERVICE_ID_CHARS = 512;

function maker<Id extends string>(name: string, shape: RegExp): (text: string) => Id {
  return (text) => {
    if (!shape.test(text)) throw new TypeError(`not a ${name}: ${JSON.stringify(text.slice(0, 80))}`);
    return text as Id;
  };
}

const SERVICE_ID = new RegExp(`^[^]{1,${MAX_SERVICE_ID_CHARS}}$`, "u");

export const RunKey = maker<RunKey>("run key", /^[0-9a-z]{8,40}$/);
export const RunId = maker<RunId>("run id", SERVICE_ID);
export const ApprovalId = maker<ApprovalId>("approval id", SERVICE_ID);
// Slack documents ids as opaque upper-case strings whose first letter names the kind.
export const TeamId = maker<TeamId>("team id", /^[TE][A-Z0-9]{1,30}$/);
export const UserId = maker<UserId>("user id", /^[UW][A-Z0-9]{1,30}$/);
export const ChannelId = maker<ChannelId>("channel id", /^[CDG][A-Z0-9]{1,30}$/);
export const GroupId = maker<GroupId>("user group id", /^S[A-Z0-9]{1,30}$/);
export const MessageTs = maker<MessageTs>("message ts", /^\d{1,16}\.\d{1,9}$/);
export const Nonce = maker<Nonce>("nonce", /^[A-Za-z0-9_-]{16,64}$/);

/**
 * Stands for the person behind a freeze or a stop whose entry is not proven or cannot be read. Stored runs name a person, so this has the
 * form of an id, but one that Slack gives to no one.
 */
export const UNKNOWN_PERSON = UserId("U0");

/** Parses untrusted input. Returns null if it is not a text of the id's shape. */
export function parsed<Id>(make: (text: string) => Id, text: unknown): Id | null {
  if (typeof text !== "string") return null;
  try {
    return make(text);
  } catch {
    return null;
  }
}

/** The number of shards, in which runs are divided among processes. Our choice: enough for fair shares, few enough for one row each. */
export const SHARDS = 256;

/** Returns the shard of a channel's runs. Shards are stored, so this function must never change. */
export const shardOf = ({ team, channel }: { readonly team: TeamId; readonly channel: ChannelId }): number =>
  shardOfName(`${team} ${channel}`);

/** Returns the shard of a name (FNV-1a), for work that belongs to no run, such as messages to a person. */
export function shardOfName(name: string): number {
  let hash = 0x81_1c_9d_c5;
  for (const char of name) {
    hash ^= char.codePointAt(0) ?? 0;
    hash = Math.imul(hash, 0x01_00_01_93);
  }
  return (hash >>> 0) % SHARDS;
}
