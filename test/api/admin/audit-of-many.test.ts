import { expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, type Sent } from "../../support/admin.ts";
import { rosterOf, rosterType, untilDone } from "../../support/import-office.ts";
import { makeMakers } from "../../support/make.ts";
import { makePortalUser } from "../../support/portal.ts";
import { startService } from "../../support/service.ts";
import { issueAppToken } from "../../support/token.ts";

type Line = components["schemas"]["AuditLine"];

const service = await startService();
const make = makeMakers(service.db);
const none = { grades: [], weekdays: [], networks: [], printSecondStep: false };

test("the audit log names the classes or the file of what was done to many", async () => {
  const [school, to] = [await make.school(), await make.school()];
  const [first, second] = [await make.group({ school, name: "5a" }), await make.group({ school, name: "5b" })];
  const target = await make.group({ school: to, name: "6c" });
  const pupils = await Promise.all([first, first, second].map((group) => make.person({ school, groups: [group] })));
  await service.db.prisma.cardSettings.create({
    data: { schoolId: school, enabled: true, secondStep: "PIN", updatedAt: service.clock(), ...none },
  });
  const { app, call } = await makeStaff(service, "SECRETARY", { schoolIds: [school] });
  const { call: receiver } = await makeStaff(service, "SECRETARY", { schoolIds: [to] });
  const { call: admin } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const { call: adminThere } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [to] });
  const idOf = ({ status, body }: Sent): string => {
    expect(status).toBeLessThan(300);
    return (body as { id: string }).id;
  };
  const cards = { newPasswords: false, withQr: true };
  const at = `/schools/${school}`;

  const acts: Record<string, () => Promise<unknown>> = {
    "passwords of a class": () => call("POST", `/groups/${first}/logins`, { body: { onlyMissing: false } }),
    "passwords of the chosen": () =>
      call("POST", `/groups/${first}/logins`, { body: { onlyMissing: false, personIds: pupils } }),
    "passwords of the school": () => call("POST", `${at}/logins`, { body: { onlyMissing: false, roles: ["STUDENT"] } }),
    "cards of a class": () => call("POST", `${at}/login-cards`, { body: { ...cards, groupId: first } }),
    "cards of people": () => call("POST", `${at}/login-cards`, { body: { ...cards, personIds: pupils } }),
    "cards revoked": () => call("POST", `${at}/login-cards/revocation`, { body: { groupId: first } }),
    "a batch": async () => {
      const body = { groupIds: [first, second], newPasswords: true, withQr: false, onlyMissing: false };
      const id = idOf(await call("POST", `${at}/credential-batches`, { body: { ...body, withLetters: true } }));
      await service.runJob("accounts.prepareCredentials");
      const token = await issueAppToken(service, app, ["admin:read", "admin:write"]);
      const document = `${service.url}/admin/v1${at}/credential-batches/${id}/document?format=csv`;
      const headers = { authorization: `Bearer ${token}`, "idempotency-key": "batch" };
      expect((await fetch(document, { method: "POST", headers })).status).toBe(200);
    },
    "pupils handed over": async () => {
      const body = { toSchoolId: to, personIds: [pupils[0], pupils[2]] };
      const id = idOf(await call("POST", `${at}/handovers`, { body }));
      const placed = [pupils[0], pupils[2]].map((personId) => ({ personId, groupId: target }));
      idOf(await receiver("POST", `/handovers/${id}/acceptance`, { body: { pupils: placed } }));
    },
    "a file": async () => {
      const roster = { body: rosterOf("1;student;Ada;Alt;7a"), headers: rosterType };
      const id = idOf(await call("POST", `/imports?school=${school}&file-name=Liste.csv`, roster));
      await untilDone(call, id);
      await call("POST", `/imports/${id}/application`, { body: {} });
      await untilDone(call, id);
      await call("POST", `/imports/${id}/undo`, { body: {} });
      await untilDone(call, id);
    },
  };
  const linesOf = async (reader: typeof call, from: string): Promise<Line[]> =>
    (await reader("GET", `/audit?school=${from}&limit=100`)).body as Line[];
  const before = [...(await linesOf(admin, school)), ...(await linesOf(adminThere, to))];
  const seen = new Set(before.map(({ id }) => id));
  const table: Record<string, string[]> = {};
  for (const [name, act] of Object.entries(acts)) {
    await act();
    const lines = [...(await linesOf(admin, school)), ...(await linesOf(adminThere, to))];
    const added = lines.filter(({ id, personId }) => !seen.has(id) && personId === null);
    for (const { id } of lines) seen.add(id);
    table[name] = added.map(({ action, names: { groups, file } }) =>
      [action, ...groups, file].filter(Boolean).join(" "),
    );
  }
  const { browser } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const { html } = await browser.open(`/admin/schools/${school}/audit`);
  expect(html).toMatch(/5a, 2 Personen/);
  expect(html).toContain("Liste.csv");
  expect(table).toMatchInlineSnapshot(`
    {
      "a batch": [
        "parent_letters_printed 5a 5b",
        "credentials_set 5a 5b",
      ],
      "a file": [
        "import_undone Liste.csv",
        "user_names_given",
        "import_applied Liste.csv",
        "import_handed_in Liste.csv",
      ],
      "cards of a class": [
        "login_cards_created 5a",
      ],
      "cards of people": [
        "login_cards_created 5a 5b",
      ],
      "cards revoked": [
        "login_cards_revoked 5a",
      ],
      "passwords of a class": [
        "credentials_set 5a",
      ],
      "passwords of the chosen": [
        "credentials_set 5a",
      ],
      "passwords of the school": [
        "credentials_set 5a 5b",
      ],
      "pupils handed over": [
        "handover_accepted 5a 5b",
        "handover_offered 5a 5b",
        "handover_accepted 6c",
        "handover_offered",
      ],
    }
  `);
});
