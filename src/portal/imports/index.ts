import { makeArea, onlyIf } from "../frame/index.ts";
import { mapColumns, showColumns } from "./columns.ts";
import { handOutExport, showExport } from "./list.ts";
import { showImport } from "./import.ts";
import { exported, imports, ofSchool, one } from "./import-record.ts";
import { handOutLeftOut, showLeftOut } from "./lists.ts";
import { handOutTemplate, handIn, showImports } from "./list.ts";
import { showChanges, showFaults, showLookAlikes, showViewChanges, showWarnings } from "./lists.ts";
import { searchImportPeople, showPeople } from "./people.ts";
import { apply, joinGroups, setMoves } from "./steps.ts";
import { showUndo, showUndoChanges, showUndoKept, undo } from "./undo.ts";

/** `/admin/schools/:schoolId/imports`: rosters are uploaded, reviewed and applied. */
export const importPages = makeArea({ folder: import.meta.dirname, page: "imports" }, (pages) => {
  pages.get(imports, showImports);
  pages.upload(imports, handIn, showImports);
  pages.get(`${imports}/template`, handOutTemplate);
  pages.form(exported, handOutExport, onlyIf("getRoster", showExport));
  pages.act(`${imports}/column-mappings/:columnMappingId/delete`, "deleteColumnMapping", {
    to: imports,
    done: "mappingDeleted",
    again: showImports,
  });
  const onImport = { to: one, again: showImport };
  pages.get(one, showImport);
  pages.form(`${one}/columns`, mapColumns, showColumns);
  pages.get(`${one}/faults`, showFaults);
  pages.get(`${one}/left-out`, showLeftOut);
  pages.act(`${one}/left-out`, "leaveOutImportRows", { ...onImport, done: "rowsLeftOut" });
  pages.get(`${one}/left-out/file`, handOutLeftOut);
  pages.get(`${one}/warnings`, showWarnings);
  pages.get(`${one}/changes`, showChanges);
  pages.form(`${one}/people`, searchImportPeople, showPeople);
  pages.form(`${one}/look-alikes`, joinGroups, showLookAlikes);
  pages.get(`${one}/apps`, showViewChanges);
  pages.post(`${one}/moves`, setMoves, showImport);
  pages.post(`${one}/apply`, apply, showImport);
  pages.act(`${one}/comparison`, "compareImport", { ...onImport, query: ofSchool, done: "importCompared" });
  pages.act(`${one}/cancel`, "cancelImport", { ...onImport, done: "importCancelled" });
  pages.form(`${one}/undo`, undo, showUndo);
  pages.get(`${one}/undo-kept`, showUndoKept);
  pages.get(`${one}/undo-changes`, showUndoChanges);
});
