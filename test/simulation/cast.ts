// Who and what takes part in every history.

import { ApprovalId, ChannelId, UserId } from "#src/domain/ids.ts";
import { REQUESTER } from "../make/run.ts";

/** The approvers of the rule. LEAD may decide once the first stage is reached. */
export const APPROVERS = [UserId("U0ANA"), UserId("U0BEN"), UserId("U0CAT")] as const;
export const LEAD = UserId("U0LEAD");
export const ADMIN = UserId("U0ADMIN");
export const GUEST = UserId("U0GUEST");
export const EVERYONE = [...APPROVERS, LEAD, ADMIN, GUEST, REQUESTER] as const;

/** Channels in two different shards, so that several replicas share them. */
export const CHANNELS = [ChannelId("C0OPS"), ChannelId("C0PAY")] as const;
export const AUDIT_CHANNEL = ChannelId("C0AUDIT");
export const APPROVALS = [ApprovalId("apr_1"), ApprovalId("apr_2"), ApprovalId("../3?")] as const;
