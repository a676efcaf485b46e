/** Runs programs one after the other in this process. Before the output of each it prints its path in a line of its own. */
for (const path of process.argv.slice(2)) {
  console.log(`> ${path}`)
  await import(path)
}

export {}
