import { makeArea, onlyIf } from "../frame/index.ts";
import { mapColumns, showColumns } from "./columns.ts";
import { handOutExport, showExport } from "./list.ts";
import { showImport } from "./import.ts";
import { imports, ofSchool, one } from "./import-record.ts";
import { handOutLeftOut, showLeftOut } from "./lists.ts";
import { handOutTemplate, handIn, showImports } from "./list.ts";
import { showChanges, showFaults, showLookAlikes, showViewChanges, showWarnings } from "./lists.ts";
import { searchImportPeople, showPeople } from "./people.ts";
import { apply, joinGroups, setMoves } from "./steps.ts";
import { showUndo, showUndoChanges, showUndoKept, undo } from "./undo.ts";

/** `/admin/schools/:schoolId/imports`: rosters are uploaded, reviewed and applied. */
export const importPages = makeArea({ folder: import.meta.dirname, page: "imports" }, (pages) => {
  const onImports = pages.at(imports, showImports);
  onImports.upload("", handIn);
  onImports.get("template", handOutTemplate);
  onImports.form("export", handOutExport, onlyIf("getRoster", showExport));
  onImports.act("column-mappings/:columnMappingId/delete", "deleteColumnMapping", "mappingDeleted");
  const onImport = pages.at(one, showImport);
  onImport.form("columns", mapColumns, showColumns);
  onImport.get("faults", showFaults);
  onImport.get("left-out", showLeftOut);
  onImport.act("left-out", "leaveOutImportRows", "rowsLeftOut");
  onImport.get("left-out/file", handOutLeftOut);
  onImport.get("warnings", showWarnings);
  onImport.get("changes", showChanges);
  onImport.form("people", searchImportPeople, showPeople);
  onImport.form("look-alikes", joinGroups, showLookAlikes);
  onImport.get("apps", showViewChanges);
  onImport.post("moves", setMoves);
  onImport.post("apply", apply);
  onImport.act("comparison", "compareImport", "importCompared", { query: ofSchool });
  onImport.act("cancel", "cancelImport", "importCancelled");
  onImport.form("undo", undo, showUndo);
  onImport.get("undo-kept", showUndoKept);
  onImport.get("undo-changes", showUndoChanges);
});
