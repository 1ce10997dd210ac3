import { hash, randomUUID } from "node:crypto";
import type { Router } from "express";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { readConfig } from "../../src/config/index.ts";
import { makePortal } from "../../src/portal/index.ts";
import { createConnectionIn } from "../../src/upstream/index.ts";
import { findBundle } from "../contract/bundles.ts";
import { makeMakers } from "./make.ts";
import { makePortalUser } from "./portal.ts";
import type { TestService } from "./service.ts";
import { giveLogin } from "./token.ts";

type Layer = { route?: { path: string; methods: Record<string, boolean> }; handle: Router };
const pathsOf = (router: Router): string[] =>
  (router.stack as unknown as Layer[]).flatMap(({ route, handle }) =>
    route === undefined ? ("stack" in handle ? pathsOf(handle) : []) : route.methods["get"] ? [route.path] : [],
  );

/** The addresses of the portal's pages and files, with parameters such as `:schoolId`. */
export const portalPaths = pathsOf(
  makePortal({ home: {} as never, frame: {} as never, setUp: {} as never, guides: {} as never }),
);

export type PortalWorld = Awaited<ReturnType<typeof makePortalWorld>>;

/**
 * A school about which most pages of the portal have something to show. The service may call private addresses.
 *
 * Shape: `values` has an id for each parameter of the addresses.
 */
export async function makePortalWorld(service: TestService) {
  const make = makeMakers(service.db, service.clock());
  const { prisma } = service.db;
  const at = service.clock();
  const person = (first: string, last: string) => ({ name: { firstFull: first, firstCall: first, last } });
  const school = await make.school({ name: "Goethe-Gymnasium Musterstadt" });
  const [group] = [await make.group({ school, name: "5a" }), await make.group({ school, name: "Klasse 5b" })];
  const pupil = await make.person({ school, groups: [group], ...person("Bo", "Zimmermann") });
  await giveLogin(service.db, pupil);
  const handedOver = await make.person({ school, groups: [group], ...person("Mia", "Aydın") });
  const teacher = await make.person({ school, role: "TEACHER", ...person("Kim", "Alt") });
  await make.membership({ group, person: teacher, role: "TEACHER" });
  await make.person({ school, status: "SOFT_DELETED", ...person("Weg", "Gezogen") });

  const app = await make.app({ name: "Interaktive Lernwerkstatt", loginUrl: "https://app.example/" });
  const { clientId } = app;
  await make.agreement(clientId);
  await make.grant({ app: clientId, school, groups: [group] });
  await make.signIn({ app: clientId, person: pupil });
  await prisma.consent.create({ data: { personId: pupil, clientId, scopes: ["openid", "profile"], grantedAt: at } });
  const erasure = { id: randomUUID(), clientId, schoolId: school, subjectId: randomUUID(), cause: "deleted" as const };
  await prisma.erasure.create({ data: { ...erasure, since: new Date(at.getTime() - 40 * 86_400_000) } });
  const bytes = new Uint8Array(hash("sha256", pupil, "buffer"));
  const ofPupil = { id: randomUUID(), personId: pupil, createdAt: at };
  await prisma.loginCard.create({ data: { ...ofPupil, schoolId: school, tokenHash: bytes, secondStep: "NONE" } });
  const factor = { kind: "TOTP" as const, label: "Telefon", secret: bytes, transports: [] };
  await prisma.secondFactor.create({ data: { ...ofPupil, ...factor } });
  const days = { receivedOn: at, dueOn: new Date(at.getTime() + 12 * 86_400_000) };
  await prisma.dataRequest.create({
    data: { id: randomUUID(), schoolId: school, personId: pupil, askedBy: "GUARDIAN", ...days },
  });
  const connection = { schoolId: school, profile: "OIDC" as const, name: "IServ" };
  const context = { keys: readConfig({ NODE_ENV: "test" }).encryptionKeys, allowHttp: true };
  const connectionId = await withPrismaTransaction(service.db, (tx) =>
    createConnectionIn(tx, connection, { ...context, origin: { at } }),
  );

  // The rest as staff do it.
  const { browser } = await makePortalUser(service, "OPERATOR");
  const { browser: admin } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const [base, ofApp] = [`/admin/schools/${school}`, `/partner/apps/${clientId}`];
  const idIn = (text: string, before: string) => new RegExp(`${before}/([0-9a-f-]{36}|\\d+)`).exec(text)![1]!;
  const rows = ["id;role;first_name;last_name;classes", "1;student;Jörg;Müßig;5b", "2;pinguin;Zoë;Ö;5b", ""];
  const file = { name: "liste.csv", content: rows.join("\n") };
  const imported = await browser.sendFile(await browser.open(`${base}/imports`), "/imports", file);
  await browser.submit(imported, "/left-out");
  const batch = await browser.submit(await browser.open(`${base}/credentials`), "/credentials", {
    kind: "passwords",
    role: "STUDENT",
  });
  const handover = await browser.submit(await browser.open(`${base}/handovers/new?group=${group}`), "/handovers/new", {
    person: handedOver,
    school: await make.school({ name: "Schule am Meer" }),
  });
  const endpoint = await browser.submit(await browser.open(`${ofApp}/webhooks/new`), "/webhooks/new", {
    url: "http://127.0.0.1:9/hook",
    eventType: "person",
  });
  const endpointId = idIn(endpoint.html, "/webhooks");
  const delivery = await browser.submit(await browser.open(`${ofApp}/webhooks/${endpointId}`), "/test", {
    eventType: "person",
  });
  const agreement = `${base}/apps/${clientId}/agreement`;
  const preview = await admin.submit(await admin.open(agreement), "/agreement", { act: "accept", given: "" });
  await admin.submit(preview, "/agreement", { step: "confirm" });
  const { id: agreementId } = await prisma.agreement.findFirstOrThrow({ where: { clientId } });
  const values: Record<string, string> = {
    schoolId: school,
    groupId: group,
    personId: pupil,
    clientId,
    connectionId,
    importId: idIn(imported.url, "/imports"),
    credentialBatchId: idIn(batch.url, "/credentials"),
    handoverId: idIn(handover.url, "/handovers"),
    mergerId: randomUUID(),
    endpointId,
    deliveryId: idIn(delivery.url, "/deliveries"),
    agreementId,
    agreementReceiptId: idIn((await admin.open(`${base}/agreements`)).html, "/agreements"),
    guide: "not-found",
    number: "4",
    setUpLinkId: randomUUID(),
    token: "token",
  };
  return { school, group, pupil, teacher, app, clientId, base, values };
}

/** An address with the values of its parameters. */
export const fillPath = (path: string, { values }: Pick<PortalWorld, "values">): string =>
  path.replaceAll(/:(\w+)/g, (_all, name: string) => values[name]!);

/** The codes of the contract that are no words of either language. */
const codes = new Set(
  [...JSON.stringify(findBundle("admin").document).matchAll(/"enum":\[([^\]]*)\]/g)]
    .flatMap(([, values]) => [...values!.matchAll(/"([A-Z][A-Z_]{3,})"/g)].map(([, value]) => value!))
    .filter((value) => !["PASSKEY", "TOTP", "LATE", "WELL"].includes(value)),
);

/** Finds codes and ids in what a reader sees; values between `code` tags are meant for programmers. */
export function findCodes(html: string): string[] {
  const text = html
    .replace(/<(script|style|code|pre|textarea)\b[\s\S]*?<\/\1>/g, " ")
    .replace(/<[^>]*\b(?:aria-label|title|alt|placeholder)="([^"]*)"[^>]*>/g, " $1 ")
    .replace(/<[^>]+>/g, " ");
  return (text.match(/[\p{L}\d_-]+/gu) ?? []).filter(
    (word) =>
      codes.has(word) ||
      /^[a-z]+(_[a-z\d]+)+$|^[A-Z\d]+(_[A-Z\d]+)+$/.test(word) ||
      /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(word),
  );
}
