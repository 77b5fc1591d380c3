// Slack that does not answer who is in which group.

import { type Bench, failure } from "./bot.ts";

/** From now on, Slack answers none of these look-ups. The result makes it answer again. */
export function failsFor(
  { people }: Pick<Bench, "people">,
  isHit: (...given: Parameters<typeof people.memberOf>) => boolean,
): () => void {
  const memberOf = people.memberOf.bind(people);
  people.memberOf = (...given) => (isHit(...given) ? Promise.reject(failure("timeout")) : memberOf(...given));
  return () => void (people.memberOf = memberOf);
}
