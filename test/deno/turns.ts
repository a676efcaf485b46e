/** Prints the number of turns of a long work in which a request to this process gets its response. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterIo, nextTurn } from '../../plugins/shared/background/turns.ts'

const server = createServer((_, response) => response.end('ok'))
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

let turns = 0
let isWorking = true
const work = async (): Promise<void> => {
  const wait = new Int32Array(new SharedArrayBuffer(4))
  while (isWorking) {
    await nextTurn()
    turns++
    // Long enough for all that the kernel has to do meanwhile.
    Atomics.wait(wait, 0, 0, 5)
  }
}
/** Other work that goes on for many turns, as short as that of a body that arrives. */
const others = async (): Promise<void> => {
  while (isWorking) await new Promise<void>((resolve) => afterIo(resolve))
}
const working = Promise.all([work(), work(), others()])
const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
await response.text()
isWorking = false
await working
console.log(`${turns} turns`)
server.close()
