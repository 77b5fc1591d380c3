// Limits the connections, in total and from one address, so that no single address can block the port.

import type http from "node:http";
import net, { type Socket } from "node:net";

/** `perAddress` is well above what a reverse proxy keeps open: all of its requests come from one address. */
export type ConnectionLimits = { readonly inAll: number; readonly perAddress: number };

export const CONNECTION_LIMITS: ConnectionLimits = { inAll: 1_024, perAddress: 384 };

export function limitConnections(
  server: http.Server,
  { inAll, perAddress }: ConnectionLimits,
  rejectedRequests: () => void,
): void {
  const open = new Map<string, number>();
  server.maxConnections = inAll;
  server.on("drop", rejectedRequests);
  server.on("connection", (socket: Socket) => {
    const address = blockOf(socket.remoteAddress ?? "");
    const count = (open.get(address) ?? 0) + 1;
    open.set(address, count);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
    if (count <= perAddress) return;
    rejectedRequests();
    socket.destroy();
  });
}

/** The 2^64 IPv6 addresses of one /64 network usually belong to one user, so they count as one address. */
export function blockOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !net.isIPv6(address)) return mapped ?? address;
  const [head = "", tail] = (address.split("%", 1)[0] ?? "").split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const [first, last] = [groups(head), groups(tail ?? "")];
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length;
  const all = [...first, ...Array<string>(Math.max(zeros, 0)).fill("0"), ...last];
  return `${all.slice(0, 4).join(":")}::/64`;
}
