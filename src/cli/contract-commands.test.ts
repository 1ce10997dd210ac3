import { expect, test } from "vitest";
import { AppError } from "../platform/errors.ts";
import type { Service } from "./command.ts";
import { makeContractCommand } from "./contract-commands.ts";

const makeService = (request: unknown) => ({ api: { request } }) as unknown as Service;
const settings = { summary: "Change the settings.", method: "put", path: "/settings", args: [], options: [] } as const;
const none = { args: {}, options: {} };

test.each([
  ["settings_not_found", { hint: "a", rule: "OLD" }],
  ["school_not_found", null],
] as const)("of %s, what the contract says is kept, or nothing is sent", async (code, sent) => {
  const command = makeContractCommand({
    ...settings,
    sends: { hint: "a" },
    keeps: ["hint", "rule"],
    ifMissing: { settings_not_found: { hint: null, rule: "OLD" } },
    data: { changed: "$isChanged" },
  });
  const bodies: unknown[] = [];
  const request = async (method: string, _path: string, { body }: { body?: unknown }) => {
    if (method === "get") throw new AppError("not_found", code, "There is none.");
    bodies.push(body);
    return { response: new Response() };
  };
  if (command.on !== "service") throw new Error("It calls the service.");
  const running = command.run(makeService(request), none);
  if (sent === null) await expect(running).rejects.toMatchObject({ code });
  else expect((await running).data).toEqual({ changed: true });
  expect(bodies).toEqual(sent === null ? [] : [sent]);
});

test("a change that somebody else overtook keeps what the record has by then", async () => {
  const command = makeContractCommand({
    ...settings,
    options: [{ name: "hint", property: "hint", in: "body", kind: "text", help: "A hint." }],
    body: "always",
    keeps: ["hint", "rule"],
  });
  const sent: unknown[] = [];
  let rule = "OLD";
  const request = async (method: string, _path: string, { body }: { body?: unknown }) => {
    if (method === "get")
      return { data: { hint: null, rule }, response: new Response(null, { headers: { ETag: rule } }) };
    sent.push(body);
    rule = "NEW";
    if (sent.length === 1) throw new AppError("precondition_failed", "precondition_failed", "It has changed.");
    return { response: new Response() };
  };
  if (command.on !== "service") throw new Error("It calls the service.");
  await command.run(makeService(request), { args: {}, options: { hint: "a" } });
  expect(sent).toEqual([
    { hint: "a", rule: "OLD" },
    { hint: "a", rule: "NEW" },
  ]);
});
