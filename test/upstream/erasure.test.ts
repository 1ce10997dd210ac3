import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { changeDirectory } from "../../src/access/index.ts";
import { forgetPerson } from "../../src/accounts/index.ts";
import { deletePerson, type PersonId } from "../../src/directory/index.ts";
import { findTestedSignIn, listRefusals } from "../../src/upstream/index.ts";
import { runHere } from "../cli/program.ts";
import { testDatabase } from "../support/database.ts";
import { atFileEnd } from "../support/file-end.ts";
import { makeMakers } from "../support/make.ts";
import { giveLogin } from "../support/token.ts";
import { startUpstreamProvider } from "../support/upstream-provider.ts";
import { encryptionKeys, makeRelyingParty } from "../support/upstream.ts";

const db = await testDatabase();
const make = makeMakers(db);
const provider = await startUpstreamProvider();
const party = makeRelyingParty(db);
const folder = mkdtempSync(join(tmpdir(), "erasure-"));
atFileEnd(() => rmSync(folder, { recursive: true }));
const run = runHere({ DATABASE_URL: db.url, ENCRYPTION_KEYS: encryptionKeys[0]!.toString("base64") });
const name = { firstFull: "Zoë Ada", firstCall: "Zoë", last: "von der Vlor-Nakel" };
const values = join(folder, "values.txt");
writeFileSync(values, "first: Zoë Ada\nlast: von der Vlor-Nakel\nother: SRC-77431\nother: sub-zz\n");

async function remove(personId: PersonId): Promise<void> {
  const softDeletedAt = new Date();
  const data = { status: "SOFT_DELETED" as const, softDeletedAt, purgeAt: softDeletedAt };
  await db.prisma.person.update({ where: { id: personId }, data });
  await changeDirectory(db, { at: new Date(), actorId: "test" }, (change) =>
    deletePerson(change, { personId, forget: forgetPerson }),
  );
}

test("the deletion of a person takes the refusals and test sign-ins that name them, and no others; the proof opens them", async () => {
  const [school, elsewhere] = [await make.school(), await make.school()];
  const connection = await party.connect(provider, school);
  const other = await party.connect(provider, elsewhere, { clientId: "schultor", name: "Other" });
  const personId = await make.person({ school, sourceSystemIdentifier: "SRC-77431", name });
  await giveLogin(db, personId);
  const claims = { employee_id: "SRC-77431", name: "Zoë von der Vlor-Nakel", preferred_username: "zz" };
  const comeIn = (account: string, of: Record<string, unknown>, at = connection) => {
    provider.account = account;
    provider.claims[account] = of;
    return party.codeOf(party.signIn(provider, at));
  };
  expect(await comeIn("sub-zz", claims)).toBe("signed_in");
  const testIt = async (of: Record<string, unknown>) => {
    provider.account = "tested";
    provider.claims["tested"] = of;
    const link = await party.openLink(connection);
    expect(await party.codeOf(party.signIn(provider, connection, { to: { test: link } }))).toBe("tested");
    return link;
  };
  const [tested, untouched] = [await testIt(claims), await testIt({ name: "Bo Muster", employee_id: "2" })];
  expect(await comeIn("sub-zz", { ...claims, employee_id: "2" })).toBe("LINK_CONTRADICTED");
  expect(await comeIn("sub-zz", {})).toBe("CLAIM_MISSING");
  await db.prisma.person.update({ where: { id: personId }, data: { blockedAt: new Date() } });
  expect(await comeIn("sub-zz", claims)).toBe("BLOCKED");
  expect(await comeIn("by-name", { employee_id: "9", name: "VLOR-NAKEL, Ada von der" })).toBe("NOBODY_MATCHES");
  expect(await comeIn("by-key", { employee_id: " SRC-77431 ", import_id: "SRC-77431" })).toBe("NOBODY_MATCHES");
  expect(await comeIn("another", { employee_id: "3", name: "Ada Vlor" })).toBe("NOBODY_MATCHES");
  // The same key names somebody else there, the same name the same person.
  expect(await comeIn("key-elsewhere", { employee_id: "SRC-77431" }, other)).toBe("NOBODY_MATCHES");
  expect(await comeIn("name-elsewhere", { ...claims, employee_id: "4" }, other)).toBe("NOBODY_MATCHES");

  const subjects = async (connectionId = connection) =>
    (await listRefusals(db, { connectionId, limit: 50 }, encryptionKeys)).map(({ subject }) => subject).toSorted();
  expect(await subjects()).toEqual(["another", "by-key", "by-name", "sub-zz", "sub-zz", "sub-zz"]);
  await remove(personId);
  expect([await subjects(), await subjects(other)]).toEqual([["another"], ["key-elsewhere"]]);
  expect(await findTestedSignIn(db, tested, encryptionKeys)).toBeNull();
  expect(await findTestedSignIn(db, untouched, encryptionKeys)).not.toBeNull();

  const prove = async () => {
    const { out } = await run(["person", "prove-erased", personId, "--values", values, "--json"]);
    type Proof = {
      isProven: boolean;
      notSearched: string[];
      findings: { place: string; what: string; verdict: string }[];
    };
    const { isProven, notSearched, findings } = JSON.parse(out) as Proof;
    const unexpected = findings.filter(({ verdict }) => verdict === "unexpected");
    return { isProven, notSearched, unexpected: unexpected.map(({ place, what }) => `${place} ${what}`) };
  };
  // Somebody else's number there, which only the operator can tell.
  expect((await prove()).unexpected).toEqual(["upstream_refusal.details other"]);
  await db.prisma.upstreamRefusal.deleteMany({ where: { connectionId: other } });
  expect(await prove()).toEqual({ isProven: true, notSearched: [], unexpected: [] });
  expect(await comeIn("back", claims)).toBe("NOBODY_MATCHES");
  await testIt(claims);
  const places = (await prove()).unexpected;
  for (const place of ["upstream_refusal.details", "upstream_set_up_link.tested"])
    expect(places).toEqual(expect.arrayContaining([`${place} name`, `${place} other`]));
  await db.prisma.upstreamRefusal.updateMany({ data: { details: Buffer.alloc(60) } });
  expect((await prove()).notSearched).toEqual([expect.stringMatching(/^2 rows of upstream_refusal.details/)]);
});
