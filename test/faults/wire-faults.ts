// Sets up a fault for one call to the service or to Slack.

import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { Environment, Lane } from "../crash/lane.ts";
import type { SetUpFault } from "./play-life.ts";
import type { WireCase } from "./wire-cases.ts";
import { KINDS } from "./wire-kinds.ts";

/** Makes the bot read the service's key from this file, as operators who rotate keys do. */
export function withKeyFile({ AGENT_API_KEY: key = "", ...env }: Environment, keyFile: string): Environment {
  writeFileSync(keyFile, key);
  return { ...env, AGENT_API_KEY_FILE: keyFile };
}

export function setUpWireFault({ world }: Lane, each: WireCase, keyFile: string): SetUpFault {
  return (onStrike) => {
    if (each.of === "slack") setUpAtSlack(world, each, onStrike);
    else setUpAtService(world, each, { keyFile, onStrike });
    return Promise.resolve(() => {
      world.slack.faults.clear();
      world.service.control.clearFaults();
      return Promise.resolve();
    });
  };
}

function setUpAtSlack({ slack }: Lane["world"], { call, kind, when }: WireCase, onStrike: () => void): void {
  const fault = KINDS[kind];
  const fits = (): boolean => {
    onStrike();
    return true;
  };
  slack.faults.next(call, fault.slack(when), 1, fits);
  // An outage of the Web API. The sockets stay open.
  if (fault.awayMs !== undefined) slack.faults.next(call, { drop: "before" }, 2);
}

type Struck = { readonly keyFile: string; readonly onStrike: () => void };

function setUpAtService({ service }: Lane["world"], { call, kind, when }: WireCase, struck: Struck): void {
  const { awayMs, newKeyMs, ...fault } = KINDS[kind];
  if (newKeyMs !== undefined) {
    const key = randomBytes(24).toString("hex");
    service.control.rotateKey(key);
    setTimeout(() => writeFileSync(struck.keyFile, key), newKeyMs);
  }
  const laid = service.control.fault({ route: call }, fault.service(when));
  const stop = service.requests.subscribe(() => {
    if (laid.hits() === 0) return;
    stop();
    struck.onStrike();
    if (awayMs === undefined) return;
    void service.control.down();
    setTimeout(() => void service.control.up(), awayMs);
  });
}
