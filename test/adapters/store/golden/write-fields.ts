// Writes the fields of this version of stored documents. Refuses to replace a file: once a version is released, its fields stay as they are.
// While it is not, delete the file first: node test/adapters/store/golden/write-fields.ts

import { writeFileSync } from "node:fs";
import { DOC_VERSION } from "#src/adapters/store/run-row.ts";
import { fieldsFile, storedFields } from "./stored-fields.ts";

writeFileSync(fieldsFile(DOC_VERSION), storedFields(), { flag: "wx" });
