import { expect, test } from "vitest";
import { AppError } from "../platform/errors.ts";
import type { Service } from "./command.ts";
import { makeContractCommand } from "./contract-commands.ts";

test("a change that somebody else overtook keeps what the record has by then", async () => {
  const command = makeContractCommand({
    summary: "Change the settings.",
    method: "put",
    path: "/settings",
    args: [],
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
  await command.run({ api: { request } } as unknown as Service, { args: {}, options: { hint: "a" } });
  expect(sent).toEqual([
    { hint: "a", rule: "OLD" },
    { hint: "a", rule: "NEW" },
  ]);
});
