/** A server that prints how many requests of `node:http` it has received, for each path of a request that asks. */
import { Server } from 'node:http'
import { createNodeServer } from '../../src/node-server.ts'

let received = 0
const { emit } = Server.prototype
Server.prototype.emit = function (this: Server, event: string, ...rest: unknown[]) {
  if (event === 'request') received++
  return Reflect.apply(emit, this, [event, ...rest])
} as typeof emit

const { port } = await createNodeServer(() => new Response(String(received))).listen()
console.log(port)
