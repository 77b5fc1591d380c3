// The bot as one or several processes. Several share one database; each has a name, a port and a keeper of its own.

import { type BotKeeper, type BotKeeperOptions, type BotState, createBotKeeper } from "./bot-keeper.ts";

export type Replica = BotKeeper & {
  /** "replica 1" */
  readonly name: string;
  /** Where it serves its health and, in HTTP mode, takes Slack's requests. */
  readonly port: number;
  /** Of its /metrics, the value of the one with this name; null while it does not answer or has none. */
  readonly metric: (name: string) => Promise<number | null>;
};

/**
 * All replicas together. An act is done to each that it can be done to, and fails if there is none.
 * The state is the best that one of them has. `ready` waits for those that are neither stopped nor paused.
 */
export type Bot = BotKeeper & { readonly replicas: readonly Replica[] };

/** The best first. */
const BEST: readonly BotState[] = ["running", "starting", "paused", "stopped"];

export type BotOptions = Omit<BotKeeperOptions, "env" | "name"> & {
  /** One for each replica. */
  readonly ports: readonly number[];
  /** Called at every start of the replica with this port. */
  readonly env: (port: number) => { readonly [name: string]: string };
};

export function createBot({ ports, env, echo, ...ears }: BotOptions): Bot {
  const alone = ports.length === 1;
  return joinReplicas(
    ports.map((port, i) => {
      const name = `replica ${i + 1}`;
      const keeper = createBotKeeper({
        ...ears,
        env: () => env(port),
        ...(!alone && { name: `Replica ${i + 1}` }),
        ...(echo !== undefined && {
          echo: alone ? echo : (text: string) => echo(text.replace(/^(?=.)/gm, `${name}: `)),
        }),
      });
      return { ...keeper, name, port, metric: (metric) => readMetric(port, metric) };
    }),
  );
}

/** A paused replica takes the connection and says nothing, so the wait is short (ms). */
const METRICS_MS = 2_000;

async function readMetric(port: number, name: string): Promise<number | null> {
  const signal = AbortSignal.timeout(METRICS_MS);
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { signal }).catch(() => null);
  const text = await answer?.text().catch(() => "");
  const value = new RegExp(`^${name} (\\S+)$`, "m").exec(text ?? "")?.[1];
  return value === undefined ? null : Number(value);
}

/** At least one. */
function joinReplicas(replicas: readonly Replica[]): Bot {
  const [first] = replicas;
  if (first === undefined) throw new Error("there is no replica");
  if (replicas.length === 1) return { ...first, replicas };
  const best = (): Replica =>
    replicas.toSorted((one, other) => BEST.indexOf(one.state()) - BEST.indexOf(other.state()))[0] ?? first;
  const all = async (act: (replica: Replica) => Promise<void>, to = replicas): Promise<void> =>
    void (await Promise.all((to.length === 0 ? [first] : to).map((each) => act(each))));
  const each = (act: (replica: Replica) => void, to: readonly Replica[]): void =>
    (to.length === 0 ? [first] : to).forEach((one) => act(one));
  const within = (...states: readonly BotState[]): readonly Replica[] =>
    replicas.filter(({ state }) => states.includes(state()));
  return {
    replicas,
    state: () => best().state(),
    pid: () => best().pid(),
    given: () => best().given(),
    fault: () => faultOf(replicas),
    ready: () => all((one) => one.ready(), within("running", "starting")),
    start: () => all((one) => one.start()),
    kill: () =>
      all(
        (one) => one.kill(),
        replicas.filter(({ pid }) => pid() !== null),
      ),
    stop: (signal) => all((one) => one.stop(signal)),
    restart: () => all((one) => one.restart()),
    pause: () => each((one) => one.pause(), within("running")),
    resume: () => each((one) => one.resume(), within("paused")),
    setAhead: (ms) => each((one) => one.setAhead(ms), replicas),
    onChange: (listener) => {
      const ends = replicas.map(({ onChange }) => onChange(listener));
      return () => ends.forEach((end) => end());
    },
  };
}

/** Replicas usually fail for the same reason, so one tells it for all. */
function faultOf(replicas: readonly Replica[]): string | null {
  const faulty = replicas.find(({ fault }) => fault() !== null);
  return faulty === undefined ? null : `${faulty.name}: ${faulty.fault()}`;
}

/** "replica 2", "Replica 2" or "2". Throws, in words, if there is none. */
export function replicaCalled({ replicas }: Pick<Bot, "replicas">, given: string): Replica {
  const wanted = given.trim().toLowerCase();
  const found = replicas.find(({ name }, i) => name === wanted || String(i + 1) === wanted);
  if (found === undefined)
    throw new Error(`There is no "${given}". Known: ${replicas.map(({ name }) => name).join(", ")}.`);
  return found;
}

/**
 * Hands requests to the replicas in turn, as a load balancer does that asks each for its health: a paused one still gets its share until
 * someone would notice. With no replica up, the first one's address is tried in vain.
 */
export function createBalancer(replicas: () => readonly Replica[]): () => Replica | undefined {
  let turn = 0;
  return () => {
    const all = replicas();
    const up = all.filter(({ state }) => state() === "running" || state() === "paused");
    turn += 1;
    return up[turn % Math.max(up.length, 1)] ?? all[0];
  };
}
