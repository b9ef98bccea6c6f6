// Package reconcile joins what Redis knows of tasks with what the handlers'
// own database rows know of effects, and says what follows.
//
// Rules map a task to a key and to the sources (table and column) that may
// hold it. Ledgers read the sources. The judge is a pure function from one task
// and its rows to a verdict. The auditor streams tasks through both in the one
// order of reads that does not lie beside live workers.
package reconcile
