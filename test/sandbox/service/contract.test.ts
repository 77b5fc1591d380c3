import { describe } from "vitest";
import type { Profile } from "#sandbox/service/profile.ts";
import { startService } from "#sandbox/service/start-service.ts";
import { agentServiceContract } from "../../contract/agent-service.ts";

/** Services that differ in everything that the document leaves open, and still follow it. */
const profiles: Record<string, Partial<Profile>> = {
  "as it is": {},
  "with other words, codes and states": {
    denyWord: "reject",
    createStatus: 202,
    decideStatus: 202,
    runningState: "in_progress",
    resumedState: "resuming",
    approvedStatus: "granted",
    deniedStatus: "rejected",
    pendingShape: "full",
  },
  "with odd ids and stale reads": { idStyle: "odd", staleReads: 2, pendingShape: "id and action" },
  "with bare ids and no running state": {
    pendingShape: "bare id",
    runningState: null,
    readEchoesInput: true,
  },
};

for (const [name, profile] of Object.entries(profiles)) {
  describe(`the reference service ${name}`, () => {
    agentServiceContract(async () => {
      const service = await startService({ tempo: 0, profile });
      return {
        url: service.url,
        apiKey: service.apiKey,
        denyWord: profile.denyWord ?? "deny",
        tasks: {
          ends: "Just say hello",
          asks: "Deploy the billing service",
          asksTwice: "Deploy with two approvals",
        },
        stop: service.stop,
      };
    });
  });
}
