// Addresses that come out of payloads and answers are not believed: they are used only when they are Slack's, or, in a sandbox or
// behind a proxy, on the host of SLACK_API_URL.

/** Slack serves response URLs from here (docs.slack.dev, handling user interaction). */
export const ANSWER_HOSTS = /^hooks\.slack\.com$/;
/** Uploads go to a host of its own choice below its domain. */
export const UPLOAD_HOSTS = /^[a-z0-9-]+(\.[a-z0-9-]+)*\.slack\.com$/;

/** `apiUrl`: SLACK_API_URL. Its host counts on any port, but never by a weaker protocol than its own. */
export function isSlacks(url: string, hosts: RegExp, apiUrl: string | null): boolean {
  const { protocol = "", hostname = "", port, username, password } = URL.parse(url) ?? {};
  if (username !== "" || password !== "") return false;
  if (protocol === "https:" && hosts.test(hostname) && port === "") return true;
  const own = apiUrl === null ? null : URL.parse(apiUrl);
  return own !== null && hostname === own.hostname && (protocol === "https:" || protocol === own.protocol);
}
