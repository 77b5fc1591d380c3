// `npm run doctor`: is this set-up right, and what would a start do? Prints one line for each requirement, and what to do where it is
// not met.

import { refuseArguments } from "../program-options.ts";
import { diagnose } from "./doctor/examine.ts";

refuseArguments(`Usage: npm run doctor
Checks the set-up that the environment variables describe, and says what a start would do. Changes nothing and posts nothing.
Exit code 0: all is well. 1: something must be mended. 2: the configuration is faulty.`);

const { code, lines } = await diagnose(process.env);
for (const each of lines) console.log(each);
process.exitCode = code;
