import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Shown } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { hashAllQuickly } from "../support/quick-hash.ts";
import { makeTestClock, startService } from "../support/service.ts";
import { connectSchool } from "../support/upstream-browser.ts";
import { startUpstreamProvider } from "../support/upstream-provider.ts";

// Forms with radio buttons and the boxes that belong to one of them, as a browser without scripts sends them.
hashAllQuickly();
const clock = makeTestClock(new Date());
const service = await startService({ clock, env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const { prisma } = service.db;
const provider = await startUpstreamProvider();
const make = makeMakers(service.db);

const school = await make.school({});
const [five, six] = [await make.group({ school, name: "5a" }), await make.group({ school, name: "6b" })];
for (const groups of [[five], [five], [six], [six], [six], []]) await make.person({ school, groups });
await make.person({ school, groups: [five], role: "TEACHER" });
const { browser } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const { clientId } = await make.app({});
const connectionId = await connectSchool(service, provider, { school });
const own = `/admin/schools/${school}/own-login/${connectionId}`;
const apps = `/admin/schools/${school}/apps/${clientId}`;

const textOf = (html: string) => html.replace(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");

type Form = {
  template: string;
  open(): Promise<Shown>;
  send(page: Shown, fields: Record<string, string>): Promise<Shown>;
  radio: { name: string; all: string; some: string };
  box: string;
  /** Whom the form was sent for. */
  outcome(): Promise<unknown>;
};

const forms: Form[] = [
  {
    template: "credentials/templates/start.eta",
    open: async () => {
      await prisma.credentialBatch.deleteMany();
      return browser.open(`/admin/schools/${school}/credentials`);
    },
    send: (page, fields) => browser.submit(page, "/credentials", { kind: "passwords", role: "STUDENT", ...fields }),
    radio: { name: "whom", all: "all", some: "groups" },
    box: "group",
    async outcome() {
      const batch = await prisma.credentialBatch.findFirst({ include: { _count: { select: { people: true } } } });
      return batch && [batch.groupIds, batch._count.people];
    },
  },
  {
    template: "upstream/templates/switch-on-form.eta",
    open: async () => {
      await prisma.upstreamConnection.update({ where: { id: connectionId }, data: { state: "OFF", groupIds: [] } });
      return browser.open(own);
    },
    send: (page, fields) => browser.submit(page, "/on", fields),
    radio: { name: "for", all: "all", some: "classes" },
    box: "group",
    async outcome() {
      const { state, groupIds } = await prisma.upstreamConnection.findUniqueOrThrow({ where: { id: connectionId } });
      const said = /das sind (\d+) Personen/.exec(textOf((await browser.open(own)).html));
      return state === "ON" ? [groupIds, Number(said?.[1])] : null;
    },
  },
  {
    template: "apps/templates/form.eta",
    open: async () => {
      await prisma.grant.deleteMany({ where: { schoolId: school } });
      return browser.open(`${apps}/change`);
    },
    async send(page, fields) {
      const shown = await browser.submit(page, "/change", { ...fields, step: "preview" });
      return shown.status === 200 ? browser.submit(shown, "/change", { step: "confirm" }) : shown;
    },
    radio: { name: "signOn", all: "NOBODY", some: "GROUPS" },
    box: "signOnGroup",
    async outcome() {
      const where = { schoolId: school, clientId };
      const grant = await prisma.grant.findFirst({ where, include: { signOnGroups: true } });
      return grant && [grant.signOnGroups.map(({ groupId }) => groupId), grant.signOnAudience];
    },
  },
];

const acted: Record<string, unknown> = { whom: [[five], 2], for: [[five], 3], signOn: [[five], "GROUPS"] };

test("every form with boxes below a radio button is tested here", () => {
  const portal = "src/portal";
  const files = readdirSync(portal, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".eta"));
  const found = files.filter((file) => {
    const fieldsets = readFileSync(join(portal, file), "utf8").match(/<fieldset[\s\S]*?<\/fieldset>/g) ?? [];
    return fieldsets.some((one) => one.includes('type="radio"') && /type="checkbox"|partial\("choices"/.test(one));
  });
  expect(found.toSorted()).toEqual(forms.map(({ template }) => template).toSorted());
});

test.each(forms)("$template: a ticked class counts while the button of all stays selected", async (form) => {
  const page = await form.open();
  await form.send(page, { [form.radio.name]: form.radio.all, [form.box]: five });
  expect(await form.outcome()).toEqual(acted[form.radio.name]);
});

test.each(forms)("$template: the button of classes with none ticked does nothing", async (form) => {
  const page = await form.open();
  expect((await form.send(page, { [form.radio.name]: form.radio.some })).status).toBe(400);
  expect(await form.outcome()).toBeNull();
});

test("the grant of everybody beside a ticked class, and of a role beside one, is refused; nobody stays nobody", async () => {
  const [, , form] = forms as [Form, Form, Form];
  for (const chosen of [{ signOn: "EVERYBODY" }, { signOn: "ROLES", role: "STUDENT", "shown-signOn": "ROLES" }]) {
    const page = await form.open();
    const refused = await form.send(page, { signOnGroup: five, ...chosen });
    expect([refused.status, textOf(refused.html)]).toEqual([400, expect.stringContaining("etwas anderes ausgewählt")]);
    expect(await form.outcome()).toBeNull();
  }
  await form.send(await form.open(), { signOn: "GROUPS", signOnGroup: five });
  const granted = await browser.open(`${apps}/change`);
  await form.send(granted, { signOn: "NOBODY", signOnGroup: five });
  expect(await form.outcome()).toEqual([[], "NOBODY"]);
});

test("what is prepared says for whom before it is downloaded", async () => {
  const [form] = forms as [Form];
  const page = await form.send(await form.open(), { whom: "groups", group: five });
  expect(textOf(page.html)).toContain("Für wen? 5a Personen 2");
  await service.runJob("accounts.prepareCredentials");
  expect((await browser.open(page.url)).html).toContain("Klasse für Klasse: 2 Personen");
});
