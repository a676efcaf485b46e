/** Verifies two passwords at once, the first for a thousand times the cost, and prints in which order that ends. */
import { verifyPassword } from '../../plugins/web-session/password.ts'

const hashOf = (memory: number) => `$argon2id$v=19$m=${memory},t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
const ended: number[] = []
const verify = (memory: number) => verifyPassword('secret', hashOf(memory)).then(() => ended.push(memory))
await Promise.all([verify(16_384), verify(16)])
console.log(JSON.stringify(ended))
