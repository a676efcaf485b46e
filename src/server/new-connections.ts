import { readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Makes the system ignore the first packet of each further connection to a port on which this process listens. Resolves
 * when the server has accepted those that had begun, so that its listening socket can close: with whether it had an
 * effect, which it has on Linux with Bun.
 *
 * The system completes the handshake of a connection before the server accepts it. When a listening socket closes, the
 * system resets those that still wait in its queue, although their callers may have sent requests. A proxy must not
 * send such a POST a second time. A caller whose first packet was ignored repeats it after a second (RFC 6298 section
 * 2), and then its connection is refused, so that a proxy connects to another server.
 */
export const ignoreNewConnections = async (port: number): Promise<boolean> => {
  if (process.platform !== 'linux' || typeof Bun === 'undefined') return false
  const library = await openLibrary().catch(() => undefined)
  if (!library) return false
  const { getsockopt, getsockname, setsockopt, pointerTo } = library
  const isListening = (descriptor: number): boolean => {
    const [value, length] = [new Int32Array(1), new Uint32Array([4])]
    return getsockopt(descriptor, solSocket, soAcceptConn, pointerTo(value), pointerTo(length)) === 0 && value[0] === 1
  }
  const portOf = (descriptor: number): number | undefined => {
    // `sockaddr_in` and `sockaddr_in6` both have the port after two bytes.
    const [address, length] = [new DataView(new ArrayBuffer(128)), new Uint32Array([128])]
    if (getsockname(descriptor, pointerTo(address), pointerTo(length)) !== 0) return undefined
    return address.getUint16(2)
  }
  const sockets = readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => isListening(descriptor) && portOf(descriptor) === port)
  const code = Uint8Array.from(dropFirstPackets.flatMap(instruction))
  // `struct sock_fprog`: the number of instructions, and their address.
  const program = new DataView(new ArrayBuffer(16))
  program.setUint16(0, dropFirstPackets.length, true)
  program.setBigUint64(8, BigInt(pointerTo(code)), true)
  const results = sockets.map((descriptor) =>
    setsockopt(descriptor, solSocket, soAttachFilter, pointerTo(program), program.byteLength),
  )
  if (results.length === 0 || results.some((result) => result !== 0)) return false
  await delay(lastConnectionsMs)
  return true
}

/** For handshakes that had begun, and for the queue of the socket. */
const lastConnectionsMs = 200

// Values of Linux, the same on x86-64 and arm64: include/uapi/asm-generic/socket.h
const solSocket = 1
const soAttachFilter = 26
const soAcceptConn = 30

/** An instruction: operation, jumps if true and if false, operand. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number]

/** Drops TCP packets with SYN and without ACK. Of a socket of TCP, the filter sees the packet from its header on. */
const dropFirstPackets: readonly Instruction[] = [
  // The byte with the flags.
  [0x30, 0, 0, 13],
  // Of those, SYN (2) and ACK (16).
  [0x54, 0, 0, 0x12],
  [0x15, 0, 1, 0x02],
  [0x06, 0, 0, 0],
  [0x06, 0, 0, 0xffff_ffff],
]

/** `struct sock_filter` (https://docs.kernel.org/networking/filter.html). */
const instruction = ([code, ifTrue, ifFalse, operand]: Instruction): readonly number[] => {
  const bytes = new DataView(new ArrayBuffer(8))
  bytes.setUint16(0, code, true)
  bytes.setUint8(2, ifTrue)
  bytes.setUint8(3, ifFalse)
  bytes.setUint32(4, operand, true)
  return [...new Uint8Array(bytes.buffer)]
}

/** The functions of the C library. Rejects where they cannot be called. */
const openLibrary = async () => {
  const { dlopen, ptr } = await import('bun:ffi')
  const declarations = {
    getsockopt: { args: ['int', 'int', 'int', 'pointer', 'pointer'], returns: 'int' },
    getsockname: { args: ['int', 'pointer', 'pointer'], returns: 'int' },
    setsockopt: { args: ['int', 'int', 'int', 'pointer', 'uint32_t'], returns: 'int' },
  } as const
  const open = (name: string) => dlopen(name, declarations)
  // glibc, and musl (Alpine).
  const { symbols } = await Promise.resolve('libc.so.6')
    .then(open)
    .catch(() => open(`libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`))
  return { ...symbols, pointerTo: (data: NodeJS.TypedArray | DataView) => ptr(data) }
}
