import { randomBytes, randomUUID } from "node:crypto";
import { tell } from "./provider.ts";
import type { Caller } from "./request.ts";
import { sendProbes, type Probe, type World } from "./world.ts";

export const callerOf = (label: string, token: string): Caller => ({ label, authorization: `Bearer ${token}` });

const nobody: Caller = { label: "without a token", authorization: null };
const query = { pid: "x" };

/** Sends tokens that must be refused. */
export async function checkTokens(world: World): Promise<void> {
  const { token, user, expired } = world;
  const malformed = ["Bearer", "Bearer a b", "Basic YTpi", "x"].map((authorization): Probe => {
    const by = { label: `with Authorization: ${authorization}`, authorization };
    return ["token-malformed", { query, by }, [401]];
  });
  const unknown = callerOf("with an unknown token", randomBytes(32).toString("base64url"));
  await sendProbes(world, [
    ["token-missing", { query, by: nobody }, [401], "00"],
    ...malformed,
    ["token-unknown", { query, by: unknown }, [401], "02"],
  ]);
  if (token.checkRefusal !== null) {
    await world.attempt(token.checkRefusal);
    const inQuery = await world.attempt(async () => ({ access_token: await token.get() }));
    if (inQuery !== null) await sendProbes(world, [["token-in-query", { query: inQuery, by: nobody }, [400, 401]]]);
  }
  if (expired === null) world.note("not checked", "Give --expired-token-file to check it.", "token-expired");
  else await sendProbes(world, [["token-expired", { query, by: expired }, [401], "01"]]);
  if (user === null) return world.note("not checked", "Give --user-token-file to check it.", "token-kind");
  await sendProbes(world, [
    ["token-kind", { query, by: user }, [401], "03"],
    ["token-kind", { path: "person-info" }, [401], "03"],
  ]);
}

const otherPaths = ["organisationen-info", "organisation-info", "gruppen-info", "policies-info"];

/** Asks for what is not there. DELETE and PATCH are not tried: nobody knows what another provider does with them. */
export async function checkErrors(world: World): Promise<void> {
  await sendProbes(world, [["unknown-path", { path: `check-${randomUUID()}` }, [404], "00"]]);
  const changes = ["POST", "PUT"].map((method): Probe => ["wrong-method", { method }, [405], "01"]);
  await sendProbes(world, changes, ({ headers }, sent) => {
    world.judge("wrong-method", sent, headers.has("allow") ? null : "no Allow");
  });
  for (const path of otherPaths)
    await world.attempt(async () => {
      const answer = await world.send({ path });
      const isOffered = [200, 400, 401, 403].includes(answer.status);
      const came = tell(answer);
      world.judge("not-offered", { path }, isOffered || came === "501, subcode 00" ? null : came);
    });
}
