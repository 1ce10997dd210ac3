import { stringify } from "csv-stringify/sync";
import type { AdminSchemas } from "../../admin/index.ts";
import { csvFile } from "../../platform/text/csv.ts";
import { nameOf, Refused, unwrap, unwrapPage, type Download, type PageRequest, type PageView } from "../frame/index.ts";
import { logoFor } from "./logins.ts";
import { listAddress } from "./group-record.ts";

type Role = AdminSchemas["SchoolRole"];

const roleNames: readonly Role[] = ["STUDENT", "TEACHER", "OTHER"];
/** The largest page of the admin API. */
const pageSize = 1000;
const columns = ["className", "name", "username", "password"] as const;

const readRoles = ({ typed }: PageRequest): Role[] => roleNames.filter((role) => typed["role"]?.includes(role));

export async function showSchoolPasswords(request: PageRequest): Promise<PageView> {
  const chosen = request.refused === null ? ["STUDENT"] : readRoles(request);
  const model = { base: listAddress(request), roleNames, chosen };
  const title = request.t("schoolPasswords.title");
  return { title, view: "school-passwords", model };
}

type Row = { className: string; name: string; username: string; password: string };

/** Creates the passwords, sorted by class. The same form sent again gets the same ones. */
async function make(request: PageRequest): Promise<Row[]> {
  const { api, path, idempotencyKey } = request;
  const roles = readRoles(request);
  if (roles.length === 0) throw new Refused(400, { code: "roles_missing" });
  const params = { path, header: { "Idempotency-Key": idempotencyKey } };
  const body = { onlyMissing: true, roles };
  const made = await unwrap(api.POST("/admin/v1/schools/{schoolId}/logins", { params, body }));
  const classes = made.length === 0 ? new Map<string, PlaceInClass>() : await readClasses(request);
  return made
    .map((secret) => {
      const { personId, username, password } = secret;
      const { className, place } = classes.get(personId) ?? { className: "", place: -1 };
      return { place, row: { className, name: nameOf(secret, request), username, password } };
    })
    .toSorted((a, b) => a.place - b.place)
    .map(({ row }) => row);
}

/** `place` counts the classes of the school in their order. */
type PlaceInClass = { className: string; place: number };

async function readClasses(request: PageRequest): Promise<Map<string, PlaceInClass>> {
  const { api, param } = request;
  const asked = { school: param("schoolId"), limit: pageSize };
  const groups = await unwrapPage(api.GET("/admin/v1/groups", { params: { query: asked } }));
  const inOrder = groups.items.filter(({ type }) => type === "KLASSE").map(({ id }) => id);
  const places = new Map(inOrder.map((id, place) => [id, place]));
  const classes = new Map<string, PlaceInClass>();
  for (let cursor: string | null = ""; cursor !== null;) {
    const query = { ...asked, status: "ACTIVE" as const, ...(cursor !== "" && { cursor }) };
    const { items, next }: Awaited<ReturnType<typeof readPeople>> = await readPeople(request, query);
    for (const person of items) {
      const own = person.groups.filter(({ id }) => places.has(id));
      const place = own[0] === undefined ? -1 : places.get(own[0].id)!;
      classes.set(person.id, { className: own.map(({ name }) => name).join(", "), place });
    }
    cursor = next;
  }
  return classes;
}

const readPeople = ({ api }: PageRequest, query: { school: string; limit: number; cursor?: string }) =>
  unwrapPage(api.GET("/admin/v1/people", { params: { query } }));

/** Shows the passwords once, to be printed or downloaded. */
export async function giveSchoolPasswords(request: PageRequest): Promise<PageView> {
  const rows = await make(request);
  const cards = rows.map((row) => ({ ...row, code: null, answer: null }));
  const page = { base: listAddress(request), csvRoles: readRoles(request), logo: await logoFor(request) };
  const made = { cards, skipped: [], printId: null, ...page };
  return { title: request.t("cards.title"), view: "cards", model: made };
}

export async function handSchoolPasswords(request: PageRequest): Promise<Download> {
  const { t, locale } = request;
  const file = stringify(await make(request), {
    ...csvFile(locale),
    columns: columns.map((key) => ({ key, header: t(`schoolPasswords.columns.${key}`) })),
  });
  return { file, type: "text/csv; charset=utf-8", name: `${t("schoolPasswords.file")}.csv` };
}
