import { unwrapRecord, unwrapUnlessDone, type PageRequest, type PageView, type Redirect } from "../frame/index.ts";
import { listAddress } from "./start.ts";

const at = "/admin/v1/schools/{schoolId}/parent-letter";

export async function showLetter(request: PageRequest): Promise<PageView> {
  const { api, path, t, typed, field, locale } = request;
  const { record, tag } = await unwrapRecord(api.GET(at, { params: { path } }));
  const text = typed["text"] === undefined ? (record.text ?? record.defaults[locale]) : field("text");
  const list = listAddress(request);
  const model = { address: `${list}/letter`, list, tag, text, isOwn: record.text !== null };
  return { title: t("letter.title"), view: "letter", model };
}

export async function changeLetter(request: PageRequest): Promise<Redirect> {
  const { api, path, field } = request;
  // A browser sends each end of a line as two characters, but counts one.
  const text = field("text").replaceAll("\r\n", "\n").trim();
  const body = { text: field("reset") === "yes" || text === "" ? null : text };
  const params = { path, header: { "If-Match": field("tag") } };
  await unwrapUnlessDone(api.PUT(at, { params, body }), body);
  return { to: listAddress(request), done: "letterSaved" };
}
