/* What callers may write, and what they may not.  SPDX-License-Identifier: MIT OR Apache-2.0 */
import {
    SheafError,
    close,
    createProver,
    createSheaf,
    formatSignatures,
    inspect,
    keyStatus,
    keygen,
    parseSignatures,
    sign,
    verify,
    verifyMany,
    verifySignature,
    type Inspection,
    type KeyBytes,
    type KeyFileInfo,
    type KeyFileSignature,
    type MadeSignature,
    type Prover,
} from "sheaf";
import * as browser from "../../../web/index.js";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function is<T extends true>(): T | undefined {
    return undefined;
}

export async function callers(envelope: Uint8Array, file: File) {
    const expected = { epoch: 1, message: new Uint8Array(32), publicKeys: [new Uint8Array(32), "0x00"] };
    const ok = await verify(envelope, expected);
    is<Same<typeof ok, boolean>>();
    await verify(file, { scheme: "hash", digests: "any" }, { signal: AbortSignal.timeout(5) });
    await verify(envelope, { epoch: "any", message: "any", publicKeys: "any" });
    // @ts-expect-error what is expected must be said
    await verify(envelope);
    // @ts-expect-error all of it
    await verify(envelope, { epoch: 1, message: new Uint8Array(32) });
    // @ts-expect-error a hash batch has no epoch
    await verify(envelope, { scheme: "hash", digests: "any", epoch: 1 });
    // @ts-expect-error an envelope is no text
    await verify("0x", expected);

    const many = await verifyMany([{ envelope, expected }], { onProgress: (fraction: number) => fraction });
    is<Same<typeof many, boolean[]>>();

    const info = await inspect(envelope, { expected });
    is<Same<typeof info, Inspection>>();
    if (!info.accepted) console.log(info.check?.toUpperCase(), info.reason);
    // @ts-expect-error an epoch may be null
    info.epoch.toFixed();

    const prover = await createProver({ threads: "auto", native: true });
    is<Same<typeof prover, Prover>>();
    // @ts-expect-error "auto" or a number
    await createProver({ threads: "2" });

    const kept = await keygen({ file: "alice.key", firstEpoch: 0, epochCount: 4 });
    is<Same<typeof kept, KeyFileInfo>>();
    const made = await keygen({ firstEpoch: 0, epochCount: 4 });
    is<Same<typeof made, KeyBytes>>();
    const byFile = await sign("alice.key", { epoch: 0, message: new Uint8Array(32) });
    is<Same<typeof byFile, KeyFileSignature>>();
    const byBytes = await sign(made.key, { epoch: 0, message: `0x${"00".repeat(32)}` });
    is<Same<typeof byBytes, MadeSignature>>();
    const aggregate = await prover.aggregate([byFile, byBytes], { logInvRate: 2, onProgress: (_, stage) => stage.length });
    is<Same<typeof aggregate, Uint8Array<ArrayBuffer>>>();
    await prover.aggregate(await parseSignatures(await formatSignatures(byFile, { form: "binary" })));
    is<Same<Awaited<ReturnType<typeof verifySignature>>, boolean>>();
    await verifySignature(byFile);
    (await keyStatus(new URL("file:///alice.key"))).nextEpoch?.toFixed();
    // @ts-expect-error what a prover is does not change
    prover.threads = 3;
    await prover.dispose();

    const own = createSheaf({ wasm: { verifier: new URL("file:///x.wasm"), prover: new Uint8Array(8) }, maxMemory: 1 << 30 });
    await own.verify(envelope, expected);
    // @ts-expect-error there is no base in Node
    createSheaf({ base: "/sheaf/" });
    browser.createSheaf({ base: "/sheaf/", wasm: await fetch("/x.wasm") });
    // @ts-expect-error a browser has no files
    await browser.keygen({ file: "alice.key", firstEpoch: 0, epochCount: 4 });
    // @ts-expect-error nor states of them
    browser.keyStatus;
    await close();
}

export function failed(error: unknown) {
    if (!(error instanceof SheafError)) return 0;
    if (error.code === "OUT_OF_MEMORY") return error.needed ?? 0;
    // @ts-expect-error there is no such code
    if (error.code === "REJECTED") return 1;
    return error.index ?? 0;
}
