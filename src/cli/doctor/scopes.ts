/** The scopes that the bot token needs. A test compares this list with manifest.yml, which says why each is needed. */
export const NEEDED_SCOPES: readonly string[] = [
  "commands",
  "chat:write",
  "files:write",
  "users:read",
  "usergroups:read",
  "channels:read",
  "groups:read",
  "channels:history",
  "groups:history",
];
