// `npm run doctor`: is this set-up right, and what would a start do? Prints one line for each requirement, and what to do where it is
// not met.

import "../version-option.ts";
import { diagnose } from "./doctor/examine.ts";

const { code, lines } = await diagnose(process.env);
for (const each of lines) console.log(each);
process.exitCode = code;
