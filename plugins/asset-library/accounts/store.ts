/** Store port: how full the accounts of an upstream are. */
export interface AccountUseStore {
  /** Groups and assets by account; of the empty name those whose records name none. */
  accountUse(): Promise<ReadonlyMap<string, number>>
}
