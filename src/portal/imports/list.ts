import { Readable } from "node:stream";
import { rosterTemplate, type AdminSchemas } from "../../admin/index.ts";
import { hasManySchools, postAndRedirect, refuseField, unwrap, unwrapPage } from "../frame/index.ts";
import type { Redirect, Download, PageView, PageRequest } from "../frame/index.ts";
import { listAddress } from "./import-record.ts";
import { schoolYearOf } from "./moves.ts";
import { readScope, scopeChoiceOf, scopeChoices } from "./scope.ts";

type Format = AdminSchemas["ImportFormat"];

const formats: readonly Format[] = ["PLAIN", "ONEROSTER", "SCHULCONNEX"];

export async function showImports(request: PageRequest): Promise<PageView> {
  const { api, path, query, t } = request;
  const isWaiting = query("waiting") !== "";
  const asked = { school: path.schoolId, limit: 50, ...(isWaiting && { waiting: true }), ...request.cursor };
  const [{ items, more }, kept] = await Promise.all([
    unwrapPage(api.GET("/admin/v1/imports", { params: { query: asked } })),
    unwrap(api.GET("/admin/v1/schools/{schoolId}/column-mappings", { params: { path } })),
  ]);
  const base = listAddress(request);
  const mappings = kept.map((mapping) => ({ ...mapping, scope: scopeChoiceOf(mapping) }));
  const form = {
    mayImport: request.may("createImport"),
    hasManySchools: hasManySchools(request),
    formats,
    scopeChoices,
    // Without a choice, a file with known headings is read as the last one with them.
    isRemembered: mappings.some(({ scope }) => scope !== "BULK"),
  };
  const mayDelete = request.may("deleteColumnMapping");
  const lists = { imports: items, more: more(base, { waiting: query("waiting") }), mappings, mayDelete };
  const model = { base, isWaiting, isFirst: query("cursor") === "" && !isWaiting, ...lists, ...form };
  return { title: t("frame.pages.imports"), view: "list", model };
}

export async function handIn(request: PageRequest): Promise<Redirect> {
  const { api, field, idempotencyKey, path, upload } = request;
  if (upload === null) throw refuseField("file", "no_file_chosen");
  const format = formats.find((one) => one === field("format"));
  const fileName = upload.fileName.replace(/\p{C}/gu, "").slice(-255);
  const isForMany = field("schools") === "many" && hasManySchools(request);
  const made = await unwrap(
    api.POST("/admin/v1/imports", {
      params: {
        query: {
          ...(!isForMany && { school: path.schoolId }),
          ...(format !== undefined && { format }),
          ...readScope(field("mode")),
          "school-year": schoolYearOf(request.now),
          ...(fileName !== "" && { "file-name": fileName }),
          ...(field("chooseColumns") !== "" && { "choose-columns": true }),
        },
        header: { "Idempotency-Key": idempotencyKey },
      },
      // Streams the file; the contract's type for a file is a string.
      body: Readable.toWeb(upload.stream) as unknown as string,
      bodySerializer: (body: unknown) => body as ReadableStream,
      duplex: "half",
      headers: { "content-type": "application/octet-stream" },
    }),
  );
  return { to: `${listAddress(request)}/${made.id}${made.state === "UNMAPPED" ? "/columns" : ""}` };
}

export const deleteMapping = postAndRedirect("mappingDeleted", listAddress, ({ api, path }) =>
  api.DELETE("/admin/v1/schools/{schoolId}/column-mappings/{columnMappingId}", { params: { path } }),
);

/** An empty roster, for a school whose software exports none of the formats. */
export const handOutTemplate = async ({ t }: PageRequest): Promise<Download> => ({
  file: await rosterTemplate(),
  type: "text/csv; charset=utf-8",
  name: `${t("upload.templateName")}.csv`,
});
