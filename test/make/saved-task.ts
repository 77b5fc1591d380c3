import type { SavedTask } from "#src/domain/policy/saved-task.ts";

export const SAVED_TASK: SavedTask = {
  name: "deploy",
  description: "Deploys a service with its newest build",
  text: "Deploy {service} to {env}. {note}",
  fields: [
    { name: "service", label: "Service", choices: null, required: true },
    { name: "env", label: "Environment", choices: ["staging", "production"], required: true },
    { name: "note", label: "Note for the agent", choices: null, required: false },
  ],
  channels: null,
  who: null,
};
