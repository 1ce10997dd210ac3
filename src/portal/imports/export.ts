import { rosterFormats, type AdminSchemas } from "../../admin/index.ts";
import { leavingOf, refuseField } from "../frame/index.ts";
import type { Download, PageRequest, PageView } from "../frame/index.ts";
import { exported } from "./import-record.ts";

type Format = AdminSchemas["RosterFormat"];

const listFormats = async () =>
  Object.entries(await rosterFormats()).map(([name, format]) => ({ ...format, name: name as Format }));

export async function showExport({ at, t, call }: PageRequest): Promise<PageView> {
  await call("getSchool");
  return { title: t("export.title"), view: "export", model: { base: at(exported), formats: await listFormats() } };
}

export async function handOutExport(request: PageRequest): Promise<Download> {
  const { call, field, t } = request;
  const format = (await listFormats()).find(({ name }) => name === field("format"));
  if (format === undefined) throw refuseField("format", "invalid_request");
  const file = await call("getRoster", { query: { format: format.name }, signal: leavingOf(request) });
  return { file, type: "application/octet-stream", name: `${t("export.fileName")}.${format.extension}` };
}
