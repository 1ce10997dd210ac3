import { expect, test } from "vitest";
import { makeLog } from "../../src/platform/telemetry/log.ts";

function capture(format: "json" | "readable" = "json") {
  const lines: string[] = [];
  const log = makeLog({ level: "debug", format, to: { write: (line: string) => void lines.push(line) } });
  return { log, text: () => lines.join("") };
}

test("a line is JSON with time, level and message", () => {
  const { log, text } = capture();
  log.info({ requestId: "abcdefgh" }, "request");
  expect(text()).toMatch(/^\{"level":"info","time":"\d{4}-[^"]*Z","requestId":"abcdefgh","msg":"request"\}\n$/);
});

test("secrets, tokens and names are hidden at any depth", () => {
  const { log, text } = capture();
  log.info(
    {
      headers: { authorization: "hush1", cookie: "hush2", "set-cookie": ["hush3"] },
      body: {
        password: "hush4",
        client_secret: "hush5",
        code_verifier: "hush6",
        login_hint: "hush7",
        username: "hush8",
      },
      person: { name: { firstFull: "hush9", last: "hush10" }, firstCall: "hush11" },
      list: [{ access_token: "hush12", refreshToken: "hush13" }],
      key: Buffer.from("hush14"),
      url: "/oauth2/auth?login_hint=hush15",
    },
    "all",
  );
  expect(text()).not.toContain("hush");
  expect(text()).toContain("/oauth2/auth");
});

test("an error is logged with stack and cause, without the row that a database error carries", () => {
  const { log, text } = capture();
  const cause = Object.assign(new Error("duplicate key"), { code: "23505", detail: "Key (username)=(hush) exists" });
  log.error({ err: new Error("not stored", { cause }) }, "request failed");
  expect(text()).not.toContain("hush");
  expect(JSON.parse(text())).toMatchObject({ err: { message: "not stored", cause: { code: "23505" } } });
  expect(text()).toContain("log.test.ts");
});

test("the readable form says the same on one line", () => {
  const { log, text } = capture("readable");
  log.warn({ job: "sweep", password: "hush" }, "job is slow");
  expect(text()).toMatch(/^\d\d:\d\d:\d\d WARN job is slow job=sweep password=\[hidden\]\n$/);
});

test("the readable form shows an error with its cause", () => {
  const { log, text } = capture("readable");
  log.error({ err: new Error("outer", { cause: new Error("inner") }) }, "request failed");
  expect(text()).toMatch(/ERROR request failed\n {4}Error: outer\n[^]*caused by:\n {4}Error: inner\n/);
});
