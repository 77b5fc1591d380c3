// Runs beside a paused bot, which cannot notice that its pipe closes (exit-with-parent.ts). When the process that paused the bot ends,
// standard input closes here, and this program resumes the bot, which then finds its pipe closed and exits.

const [pid] = process.argv.slice(2);

function resume(): void {
  try {
    // SIGCONT has no effect on a process that is not paused, so it does no harm if another process has the id by now.
    process.kill(Number(pid), "SIGCONT");
  } catch {
    // The bot has already exited.
  }
  process.exit();
}
process.stdin.once("end", resume).once("error", resume).resume();
