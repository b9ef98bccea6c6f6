package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/idemctl/idemctl/cmd/idemctl/internal/render"
	"github.com/idemctl/idemctl/config"
)

func newConfig(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Write, show and check the configuration",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigInit(p), newConfigView(p), newConfigValidate(p), newConfigContexts(p), newConfigUse(p))
	return cmd
}

// configPlace is the file the shared flags name, or where it is expected.
func (p *program) configPlace(cmd *cobra.Command) (config.Location, error) {
	named, _ := cmd.Flags().GetString("config")
	place := config.Locate(p.env, named)
	if place.Path == "" {
		return place, &usageError{
			err:  errors.New("there is no home directory to look for a configuration in"),
			hint: "name the file with --config FILE",
		}
	}
	return place, nil
}

func newConfigInit(p *program) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a commented configuration to start from",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			place, err := p.configPlace(cmd)
			if err != nil {
				return err
			}
			if err := config.Init(place.Path, force); err != nil {
				return configFault(err)
			}
			fmt.Fprintf(p.out, "%s\n", render.Visible(place.Path))
			fmt.Fprintf(p.err, "idemctl: edit it, then: idemctl config validate\n")
			return nil
		},
	}
	cmd.Flags().BoolVarP(&force, "force", "f", false, "overwrite a file that is there")
	return cmd
}

// configFault makes a fault of reading or writing the configuration a usage
// error.
func configFault(err error) error {
	var one *config.Error
	var several config.Errors
	if errors.As(err, &one) || errors.As(err, &several) {
		return err
	}
	return &usageError{err: err}
}

func newConfigView(p *program) *cobra.Command {
	var sources, raw bool
	cmd := &cobra.Command{
		Use:   "view",
		Short: "Show the values that hold, with secrets masked",
		Long: `view shows what a command would work with: every value after flags, environment,
file and defaults. With --file it shows the file alone.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if raw {
				place, err := p.configPlace(cmd)
				if err != nil {
					return err
				}
				file, err := config.Load(p.env, place)
				if err != nil {
					return configFault(err)
				}
				_, err = p.out.Write(file.View(config.ViewOptions{Sources: sources}))
				return err
			}
			s, err := p.settings(cmd)
			if err != nil {
				return err
			}
			return p.printSettings(s, sources)
		},
	}
	connectionFlags(cmd)
	cmd.Flags().BoolVar(&sources, "sources", false, "say where each value was written")
	cmd.Flags().BoolVar(&raw, "file", false, "show the file alone, as YAML")
	return cmd
}

func (p *program) printSettings(s *config.Settings, sources bool) error {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for e := range s.Entries() {
		line := render.Visible(e.Key) + "\t" + render.Visible(e.Value)
		if sources {
			line += "\t" + render.Visible(e.Source.String())
		}
		fmt.Fprintln(w, line)
	}
	return w.Flush()
}

func newConfigValidate(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check the configuration; every mistake with file:line:column",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			named, _ := cmd.Flags().GetString("config")
			flags := config.Flags{}
			if named != "" {
				flags["config"] = []string{named}
			}
			file, err := config.Validate(p.env, config.Request{Flags: flags, Known: allFlags(cmd.Root())})
			if err != nil {
				return configFault(err)
			}
			if err := checkExpressions(file); err != nil {
				return err
			}
			for _, w := range file.Warnings {
				fmt.Fprintf(p.err, "idemctl: warning: %s\n", render.Visible(w.String()))
			}
			if file.Path == "" {
				fmt.Fprintln(p.err, "idemctl: there is no configuration file; to write one: idemctl config init")
				return nil
			}
			fmt.Fprintf(p.out, "%s: %s, no mistakes\n", render.Visible(file.Path), plural(len(file.Contexts), "context"))
			return nil
		},
	}
	return cmd
}

func newConfigContexts(p *program) *cobra.Command {
	var noHeaders bool
	cmd := &cobra.Command{
		Use:     "contexts",
		Aliases: []string{"get-contexts"},
		Short:   "List the contexts of the configuration",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			place, err := p.configPlace(cmd)
			if err != nil {
				return err
			}
			file, err := config.Load(p.env, place)
			if err != nil {
				return configFault(err)
			}
			w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
			if p.outTerminal && !noHeaders {
				fmt.Fprintln(w, "CURRENT\tNAME\tREDIS\tLEDGERS\tRULES\tGUARD")
			}
			for _, c := range file.Summaries() {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", mark(c.Current), render.Visible(c.Name),
					render.Visible(c.Server), render.Visible(strings.Join(c.Ledgers, ",")), c.Rules, guard(c))
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&noHeaders, "no-headers", false, "no column titles")
	return cmd
}

func mark(current bool) string {
	if current {
		return "*"
	}
	return "-"
}

func guard(c config.ContextSummary) string {
	switch {
	case c.ReadOnly:
		return "read-only"
	case c.Protected:
		return "protected"
	}
	return "-"
}

func newConfigUse(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "use-context NAME",
		Short: "Make a context the current one",
		Args:  exactArgs("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			place, err := p.configPlace(cmd)
			if err != nil {
				return err
			}
			if err := config.UseContext(place.Path, args[0]); err != nil {
				return configFault(err)
			}
			if other, _ := p.env.LookupEnv("IDEMCTL_CONTEXT"); other != "" && other != args[0] {
				p.log.warnf("IDEMCTL_CONTEXT=%s is set and goes first", other)
			}
			fmt.Fprintf(p.err, "idemctl: the current context is %s now\n", render.Visible(args[0]))
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			place, err := p.configPlace(cmd)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			file, err := config.Load(p.env, place)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, c := range file.Summaries() {
				names = append(names, c.Name)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}
