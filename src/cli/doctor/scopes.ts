/** What the bot token must be allowed to do. A test holds this list to manifest.yml, which says why each is needed. */
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
