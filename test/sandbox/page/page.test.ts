import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createDiffer } from "#sandbox/page/base/regions.ts";
import { html } from "#sandbox/page/base/html.ts";
import { createStage, fillTraffic, fillWorkspace, HOSTILE, OPS, reasonModal, servePage } from "./stage.ts";

let stage: ReturnType<typeof createStage>;
let page: Awaited<ReturnType<typeof servePage>>;

beforeEach(async () => {
  stage = createStage();
  page = await servePage(stage.parts);
});
afterEach(() => page.close());

type Answer = { status: number; headers: IncomingMessage["headers"]; body: string };

function ask(
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const req = request(
      `${page.url}${path}`,
      { method: options.method ?? "GET", headers: options.headers ?? {} },
      (res) => {
        const chunks: Buffer[] = [];
        res.on("data", (chunk: Buffer) => chunks.push(chunk));
        res.on("end", () =>
          resolve({
            status: res.statusCode ?? 0,
            headers: res.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    req.on("error", reject);
    req.end(options.body);
  });
}

const act = (body: unknown, headers: Record<string, string> = { "x-sandbox-page": "1" }): Promise<Answer> =>
  ask("/page/act", { method: "POST", headers, body: JSON.stringify(body) });

describe("addresses", () => {
  test("the root redirects to the first person and channel", async () => {
    expect((await ask("/")).headers.location).toBe(`/as/U0ANA/${OPS}`);
  });

  test("paths that are not the page's are left to other handlers", async () => {
    expect((await ask("/api/auth.test")).body).toBe("not the page's");
  });

  test("a person or channel that does not exist, or is not visible, is not found", async () => {
    const paths = [
      "/as/U404/C0OPSAGENTS",
      "/as/U0ANA/C404",
      "/as/U0CAT/C0PAYMENTS",
      "/as/U0GIL/C0RELEASES",
      "/as/U0COUNTERSIGN/C0OPSAGENTS",
    ];
    for (const path of paths) expect((await ask(path)).status).toBe(404);
  });

  test("a permalink leads to the message, as the first person sees it", async () => {
    expect((await ask(`/archives/${OPS}/p1794487080000100`)).headers.location).toBe(
      `/as/U0ANA/${OPS}#m-1794487080.000100`,
    );
  });

  test("an empty channel says what to type and who can approve", async () => {
    const { body } = await ask(`/as/U0ANA/${OPS}`);
    expect(body).toContain('data-fill="/agent run deploy billing-api to production"');
    expect(body).toContain("switch to Ben or Cat");
    fillWorkspace(stage.workspace);
    expect((await ask(`/as/U0ANA/${OPS}`)).body).not.toContain("Start here.");
  });

  test("guests, outsiders and deactivated people are marked", async () => {
    const { body } = await ask(`/as/U0DEE/${OPS}`);
    for (const label of ["guest", "outsider", "deactivated"]) expect(body).toContain(`data-tag>${label}<`);
    expect(body).toContain("Dee Novak is deactivated.");
  });
});

describe("messages", () => {
  test("hostile text, edits, files, threads and broadcasts are drawn correctly", async () => {
    const { run } = fillWorkspace(stage.workspace);
    const { body } = await ask(`/as/U0ANA/${OPS}/${run.ts}`);
    expect(body).not.toContain("<script>alert");
    expect(body).toContain("(edited)");
    expect(body).toContain("3 replies");
    expect(body).toContain("replied to a thread:");
    expect(body).toContain("Only visible to you");
    expect(body).toContain('href="/page/file/F0OUT"');
  });

  test("an ephemeral message is visible only to its person", async () => {
    fillWorkspace(stage.workspace);
    expect((await ask(`/as/U0BEN/${OPS}`)).body).not.toContain("needs a task");
  });

  test("a file is a download, never a page of this origin", async () => {
    fillWorkspace(stage.workspace);
    const { headers, body } = await ask("/page/file/F0OUT");
    expect(headers["content-disposition"]).toBe("attachment; filename*=UTF-8''output.md");
    expect(headers["content-type"]).toBe("application/octet-stream");
    expect(body).toContain(HOSTILE);
  });

  test("the traffic panel lists lines with their refusals and details", async () => {
    fillTraffic(stage.traffic);
    const { body } = await ask(`/as/U0ANA/${OPS}?traffic`);
    expect(body).toContain("not_in_channel");
    expect(body).toContain("&quot;channel&quot;: &quot;C0RANDOM<i data-name>#random</i>&quot;");
  });

  test("a channel is unread until its reader has opened it", async () => {
    await ask(`/as/U0BEN/${OPS}`);
    stage.workspace.post({ author: "U0ANA", channel: "C0RELEASES", text: "news" });
    expect((await ask(`/as/U0BEN/${OPS}`)).body).toContain("(unread)");
    await ask("/as/U0BEN/C0RELEASES");
    expect((await ask(`/as/U0BEN/${OPS}`)).body).not.toContain("(unread)");
  });
});

describe("direct messages", () => {
  const composers = async (): Promise<number> => {
    const { id } = stage.workspace.dmOf("U0ANA");
    const { body } = await ask(`/as/U0ANA/${id}`);
    expect(body.includes("Sending messages to this app has been turned off.")).toBe(
      !stage.workspace.app.takesMessages,
    );
    return body.split("<form data-composer").length - 1;
  };

  test("have a composer only if the app takes messages, and channels always have one", async () => {
    expect(await composers()).toBe(1);
    stage.workspace.app.takesMessages = false;
    expect(await composers()).toBe(0);
    expect((await ask(`/as/U0ANA/${OPS}`)).body).toContain("<form data-composer");
  });
});

describe("acts", () => {
  const say = { do: "say", person: "U0ANA", channel: OPS, thread: "" };

  test("text is passed to Slack's client as it was typed", async () => {
    await act({ ...say, text: "a < b & @ben" });
    expect(stage.done).toEqual([{ act: "say", with: ["U0ANA", OPS, "a < b & @ben", undefined] }]);
    expect((await ask(`/as/U0BEN/${OPS}`)).body).toContain("a &lt; b &amp; ");
  });

  test("a slash command is recognized, and its text is passed on as typed", async () => {
    await act({ ...say, text: "/agent run  a < b\nc" });
    expect(stage.done).toEqual([{ act: "command", with: ["U0ANA", OPS, "/agent", "run  a < b\nc"] }]);
  });

  test("an unknown command, or one in a thread, is refused with an explanation", async () => {
    expect((await act({ ...say, text: "/nope" })).body).toContain("/nope is not a command here");
    expect((await act({ ...say, thread: "1.1", text: "/agent list" })).body).toContain(
      "no slash commands in threads",
    );
    expect(stage.done).toEqual([]);
  });

  test("an invited app joins, and the channel says so", async () => {
    const say = { do: "say", person: "U0ANA", channel: "C0RANDOM", thread: "", text: "/invite @countersign" };
    expect(JSON.parse((await act(say)).body)).toEqual({ ok: true });
    expect(stage.workspace.channels.get("C0RANDOM")?.members).toContain("U0COUNTERSIGN");
    expect((await ask("/as/U0BEN/C0RANDOM")).body).toContain("Countersign joined #random");
  });

  test("a click contains the choice that the app offered", async () => {
    const { card } = fillWorkspace(stage.workspace);
    const at = { channel: OPS, ts: card.ts };
    await act({ do: "click", person: "U0BEN", at, block: "decide", action: "more", chosen: ["0"] });
    expect(stage.done).toEqual([{ act: "click", with: ["U0BEN", at, "decide", "more", "digest"] }]);
  });

  test("a shortcut is passed to the app with the message", async () => {
    const at = { channel: OPS, ts: "1.1" };
    await act({ do: "shortcut", person: "U0BEN", at, shortcut: "run_on_message" });
    expect(stage.done).toEqual([{ act: "shortcut", with: ["U0BEN", "run_on_message", at] }]);
  });

  test("a click on an element that has changed meanwhile is not passed on", async () => {
    const at = { channel: OPS, ts: "1.1" };
    const { body } = await act({
      do: "click",
      person: "U0BEN",
      at,
      block: "decide",
      action: "approve",
      chosen: [],
    });
    expect(JSON.parse(body)).toMatchObject({ ok: false });
    expect(stage.done).toEqual([]);
  });

  test("a modal cannot be submitted by another person", async () => {
    const open = stage.workspace.pushView("U0ANA", reasonModal());
    await act({ do: "submit", person: "U0BEN", view: open.id, fields: [] });
    expect(stage.done).toEqual([]);
  });
});

describe("the guard", () => {
  test("a foreign host is answered 421", async () => {
    expect((await ask("/", { headers: { host: "evil.example" } })).status).toBe(421);
  });

  test("a post without the page's own header, or from a foreign origin, is refused", async () => {
    expect((await act({}, {})).status).toBe(403);
    expect((await act({}, { "x-sandbox-page": "1", origin: "http://evil.example" })).status).toBe(403);
  });

  test("a body that is not an act is refused", async () => {
    expect((await act({ do: "drop", person: "U0ANA" })).status).toBe(400);
  });

  test("scripts and styles are loaded only from files, and no cookie is set", async () => {
    const { headers, body } = await ask(`/as/U0ANA/${OPS}`);
    expect(headers["content-security-policy"]).toContain("default-src 'none'; script-src 'self'");
    expect(headers["set-cookie"]).toBeUndefined();
    expect(body).not.toMatch(/ style="| on\w+="|<script>/);
  });
});

test("a tab gets the whole state first, and then only changes", () => {
  const differ = createDiffer();
  const items = (...texts: string[]): { key: string; inner: ReturnType<typeof html> }[] =>
    texts.map((text, i) => ({ key: `k${i}`, inner: html`${text}` }));
  expect(differ({ messages: items("a", "b") })[0]).toMatchObject({
    keys: ["k0", "k1"],
    items: [{ key: "k0" }, { key: "k1" }],
  });
  expect(differ({ messages: items("a", "b") })).toEqual([]);
  const [patch] = differ({ messages: items("a", "c") });
  expect(patch).toMatchObject({ list: "messages", items: [{ key: "k1" }] });
  expect(patch).not.toHaveProperty("keys");
  expect(differ({ messages: items("a") })).toMatchObject([{ keys: ["k0"], items: [] }]);
});
