// The bot as one or several processes. Several processes share one database; each has its own name, port and keeper.

import { type BotKeeper, type BotKeeperOptions, type BotState, createBotKeeper } from "./bot-keeper.ts";

export type Replica = BotKeeper & {
  /** "replica 1" */
  readonly name: string;
  /** The port where it serves its health and, in HTTP mode, receives Slack's requests. */
  readonly port: number;
  /** Resolves to the value of the metric with this name, or to null if the replica does not answer or does not have it. */
  readonly metric: (name: string) => Promise<number | null>;
};

/**
 * All replicas together. An act applies to each replica that it is possible for, and fails if there is none.
 * `state` is the best state of all replicas. `ready` waits for the replicas that are neither stopped nor paused.
 */
export type Bot = BotKeeper & { readonly replicas: readonly Replica[] };

const BEST_FIRST: readonly BotState[] = ["running", "starting", "paused", "stopped"];

export type BotOptions = Omit<BotKeeperOptions, "env" | "name"> & {
  /** One port for each replica. */
  readonly ports: readonly number[];
  /** Called at every start of the replica with this port. */
  readonly env: (port: number) => { readonly [name: string]: string };
};

export function createBot({ ports, env, echo, ...callbacks }: BotOptions): Bot {
  const alone = ports.length === 1;
  return joinReplicas(
    ports.map((port, i) => {
      const name = `replica ${i + 1}`;
      const keeper = createBotKeeper({
        ...callbacks,
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

/** The time limit of a metrics request (ms). It is short, because a paused replica accepts the connection and never answers. */
const METRICS_MS = 2_000;

async function readMetric(port: number, name: string): Promise<number | null> {
  const signal = AbortSignal.timeout(METRICS_MS);
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { signal }).catch(() => null);
  const text = await answer?.text().catch(() => "");
  const value = new RegExp(`^${name} (\\S+)$`, "m").exec(text ?? "")?.[1];
  return value === undefined ? null : Number(value);
}

/** Needs at least one replica. */
function joinReplicas(replicas: readonly Replica[]): Bot {
  const [first] = replicas;
  if (first === undefined) throw new Error("there is no replica");
  if (replicas.length === 1) return { ...first, replicas };
  const best = (): Replica =>
    replicas.toSorted(
      (one, other) => BEST_FIRST.indexOf(one.state()) - BEST_FIRST.indexOf(other.state()),
    )[0] ?? first;
  const all = async (act: (replica: Replica) => Promise<void>, to = replicas): Promise<void> =>
    void (await Promise.all((to.length === 0 ? [first] : to).map((replica) => act(replica))));
  const each = (act: (replica: Replica) => void, to: readonly Replica[]): void =>
    (to.length === 0 ? [first] : to).forEach((replica) => act(replica));
  const inState = (...states: readonly BotState[]): readonly Replica[] =>
    replicas.filter(({ state }) => states.includes(state()));
  return {
    replicas,
    state: () => best().state(),
    pid: () => best().pid(),
    given: () => best().given(),
    fault: () => faultOf(replicas),
    ready: () => all((one) => one.ready(), inState("running", "starting")),
    start: () => all((one) => one.start()),
    kill: () =>
      all(
        (one) => one.kill(),
        replicas.filter(({ pid }) => pid() !== null),
      ),
    stop: (signal) => all((one) => one.stop(signal)),
    restart: () => all((one) => one.restart()),
    pause: () => each((one) => one.pause(), inState("running")),
    resume: () => each((one) => one.resume(), inState("paused")),
    setAhead: (ms) => each((one) => one.setAhead(ms), replicas),
    isClockMoving: () => replicas.some((one) => one.isClockMoving()),
    onChange: (listener) => {
      const ends = replicas.map(({ onChange }) => onChange(listener));
      return () => ends.forEach((end) => end());
    },
  };
}

/** Replicas usually fail for the same reason, so the fault of one stands for all. */
function faultOf(replicas: readonly Replica[]): string | null {
  const faulty = replicas.find(({ fault }) => fault() !== null);
  return faulty === undefined ? null : `${faulty.name}: ${faulty.fault()}`;
}

/** Finds a replica by "replica 2", "Replica 2" or "2". Throws an error with a message for people if there is none. */
export function replicaCalled({ replicas }: Pick<Bot, "replicas">, input: string): Replica {
  const wanted = input.trim().toLowerCase();
  const found = replicas.find(({ name }, i) => name === wanted || String(i + 1) === wanted);
  if (found === undefined)
    throw new Error(
      `There is no "${input}". Known replicas: ${replicas.map(({ name }) => name).join(", ")}.`,
    );
  return found;
}

/**
 * Returns a function that picks replicas in turn, like a load balancer with health checks. A paused replica still gets its share, as it
 * would until a check fails. If no replica is up, picks the first one, where the request fails.
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
