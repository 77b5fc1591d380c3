// Sets up a fault for one call to the service or to Slack.

import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Fault as SlackFault } from "#sandbox/slack/injected-faults.ts";
import type { Slack } from "#sandbox/slack/start-slack.ts";
import type { Environment, Lane } from "../crash/lane.ts";
import type { SetUpFault } from "./play-life.ts";
import type { WireCase } from "./wire-cases.ts";
import { KINDS } from "./wire-kinds.ts";

const POLICY_FILE = fileURLToPath(new URL("wire-policy.yaml", import.meta.url));

/** Gives the bot the campaign's policy. It reads the service's key from this file, as with operators who rotate keys. */
export function forWire({ AGENT_API_KEY: key = "", ...env }: Environment, keyFile: string): Environment {
  writeFileSync(keyFile, key);
  return { ...env, AGENT_API_KEY_FILE: keyFile, POLICY_FILE };
}

export function setUpWireFault({ world }: Lane, each: WireCase, keyFile: string): SetUpFault {
  return (onStrike, { channel }) => {
    if (each.of === "slack") setUpAtSlack(world, each, { channel, onStrike });
    else setUpAtService(world, each, { keyFile, onStrike });
    return Promise.resolve(() => {
      world.slack.faults.clear();
      world.service.control.clearFaults();
      return Promise.resolve();
    });
  };
}

type StruckAtSlack = { readonly channel: string; readonly onStrike: () => void };

function setUpAtSlack({ slack }: Lane["world"], each: WireCase, { channel, onStrike }: StruckAtSlack): void {
  const { call, kind, when, nth = 1, lost } = each;
  const { awayMs, newKeyMs, ...fault } = KINDS[kind];
  if (lost !== undefined) slack.faults.next("chat.postMessage", { drop: "after" }, 1, nthIn(channel, lost));
  const isTurn = nthIn(channel, nth);
  const fits = (args: CallArgs): boolean => {
    if (!isTurn(args)) return false;
    onStrike();
    // The sockets stay open.
    if (awayMs !== undefined) everywhere({ drop: "before" }, awayMs);
    if (newKeyMs !== undefined) everywhere(fault.slack(when), newKeyMs);
    return true;
  };
  slack.faults.next(call, fault.slack(when), 1, fits);

  function everywhere(at: SlackFault, ms: number): void {
    slack.faults.everywhere(at);
    setTimeout(() => slack.faults.everywhere(undefined), ms);
  }
}

type CallArgs = { readonly [field: string]: unknown };

/** Returns whether this is the nth call about this channel. Receipts of an earlier life are about another; some calls name none. */
function nthIn(channel: string, nth: number): (args: CallArgs) => boolean {
  let count = 0;
  return (args) => (args["channel"] ?? channel) === channel && (count += 1) === nth;
}

type Struck = { readonly keyFile: string; readonly onStrike: () => void };

function setUpAtService({ service, slack }: Lane["world"], each: WireCase, struck: Struck): void {
  const { call, kind, when, pastSubmitMs } = each;
  const { awayMs, newKeyMs, ...fault } = KINDS[kind];
  if (newKeyMs !== undefined) {
    const key = randomBytes(24).toString("hex");
    service.control.rotateKey(key);
    setTimeout(() => writeFileSync(struck.keyFile, key), newKeyMs);
  }
  const times = pastSubmitMs === undefined ? 1 : "all";
  const laid = service.control.fault({ route: call }, fault.service(when), times);
  if (pastSubmitMs !== undefined) afterSubmit(slack, () => setTimeout(laid.clear, pastSubmitMs));
  const stop = service.requests.subscribe(() => {
    if (laid.hits() === 0) return;
    stop();
    struck.onStrike();
    if (awayMs === undefined) return;
    void service.control.down();
    setTimeout(() => void service.control.up(), awayMs);
  });
}

function afterSubmit({ traffic }: Slack, then: () => void): void {
  const stop = traffic.onLine(({ from, what }) => {
    if (from !== "app" || what !== "acknowledges view_submission") return;
    stop();
    then();
  });
}
