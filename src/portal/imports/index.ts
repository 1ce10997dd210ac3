import { makeArea } from "../frame/index.ts";
import { mapColumns, showColumns } from "./columns.ts";
import { showImport } from "./import.ts";
import { handOutLeftOut, leaveOut, showLeftOut, showWarnings } from "./left-out.ts";
import { deleteMapping, handOutTemplate, handIn, showImports } from "./list.ts";
import { showChanges, showFaults, showLookAlikes, showViewChanges } from "./lists.ts";
import { searchImportPeople, showPeople } from "./people.ts";
import { apply, cancel, compare, joinGroups, setMoves } from "./steps.ts";
import { showUndo, showUndoChanges, showUndoKept, undo } from "./undo.ts";

const imports = "/admin/schools/:schoolId/imports";
const one = `${imports}/:importId`;

/** `/admin/schools/:schoolId/imports`: rosters are uploaded, reviewed and applied. */
export const importPages = makeArea({ folder: import.meta.dirname, page: "imports" }, (pages) => {
  pages.get(imports, showImports);
  pages.upload(imports, handIn, showImports);
  pages.get(`${imports}/template`, handOutTemplate);
  pages.post(`${imports}/column-mappings/:columnMappingId/delete`, deleteMapping, showImports);
  pages.get(one, showImport);
  pages.form(`${one}/columns`, mapColumns, showColumns);
  pages.get(`${one}/faults`, showFaults);
  pages.get(`${one}/left-out`, showLeftOut);
  pages.post(`${one}/left-out`, leaveOut, showImport);
  pages.get(`${one}/left-out/file`, handOutLeftOut);
  pages.get(`${one}/warnings`, showWarnings);
  pages.get(`${one}/changes`, showChanges);
  pages.form(`${one}/people`, searchImportPeople, showPeople);
  pages.form(`${one}/look-alikes`, joinGroups, showLookAlikes);
  pages.get(`${one}/apps`, showViewChanges);
  pages.post(`${one}/moves`, setMoves, showImport);
  pages.post(`${one}/apply`, apply, showImport);
  pages.post(`${one}/comparison`, compare, showImport);
  pages.post(`${one}/cancel`, cancel, showImport);
  pages.form(`${one}/undo`, undo, showUndo);
  pages.get(`${one}/undo-kept`, showUndoKept);
  pages.get(`${one}/undo-changes`, showUndoChanges);
});
