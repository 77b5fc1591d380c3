// What `npm run mutants -- TARGET` mutates, and which tests must notice it. They are those that lie nearest, so that a run takes minutes.

export type Target = { readonly mutate: readonly string[]; readonly tests: readonly string[] };

export const TARGETS = {
  decide: {
    mutate: ["src/domain/decide.ts"],
    tests: [
      "test/domain/{decide,vote,parts,handling,policy,follow-up,surplus-votes,undo,expire,hold,notice,shared-approvers}.test.ts",
    ],
  },
  authorization: {
    mutate: ["src/domain/authorization.ts", "src/domain/quorum.ts"],
    tests: [
      "test/domain/{authorization,decide,vote,parts,policy,handling,surplus-votes,undo,brake,shared-approvers,queue,strict-rules}.test.ts",
      "test/engine/unknown-requester.test.ts",
    ],
  },
  reconcile: {
    mutate: ["src/domain/reconcile.ts"],
    tests: ["test/domain/{reconcile,due-effects,apply-outcome,end-run,follow-up-due,observe}.test.ts"],
  },
  observe: {
    mutate: ["src/domain/observe.ts", "src/domain/poll-schedule.ts"],
    tests: [
      "test/domain/{observe,observe-facts,due-effects,same-request,run-context,end-run,schedule}.test.ts",
    ],
  },
  settle: {
    mutate: ["src/engine/effect-executor.ts", "src/engine/outcome-writer.ts"],
    tests: ["test/engine/{one-effect,unsaved-outcome,effect-executor}.test.ts"],
  },
  policy: {
    mutate: ["src/domain/policy/choose-rule.ts", "src/domain/policy/combine-rules.ts"],
    tests: [
      "test/domain/{policy,strict-rules,strict-follow-up,policy-conditions,follow-up,hours,card-layout}.test.ts",
    ],
  },
  rules: {
    mutate: ["follow-up-rule", "named-people", "policy"].map((file) => `src/domain/policy/${file}.ts`),
    tests: [
      "test/domain/{whole-policy,policy,card-layout,parts,vote,run-context,same-request,follow-up,follow-up-due}.test.ts",
    ],
  },
  patterns: {
    mutate: ["src/domain/policy/pattern.ts", "src/domain/policy/comparison.ts"],
    tests: ["test/domain/{patterns,policy,policy-conditions}.test.ts"],
  },
  ingress: {
    mutate: ["src/adapters/slack/request-verifier.ts", "src/adapters/slack/workspace-check.ts"],
    tests: ["test/adapters/slack/{request-verifier,signed-requests,workspace-check}.test.ts"],
  },
  cards: {
    mutate: ["approval-card", "pending-card"].map((file) => `src/adapters/slack/blocks/${file}.ts`),
    tests: ["test/adapters/slack/blocks/{card-elements,card,messages,true-words,deployment}.test.ts"],
  },
  "card-states": {
    mutate: ["card-state", "card-history"].map((file) => `src/adapters/slack/blocks/${file}.ts`),
    tests: ["test/adapters/slack/blocks/{card-history,card-elements,card,messages,true-words}.test.ts"],
  },
} as const satisfies { readonly [name: string]: Target };
